// CHANGELOG.md in the form of https://keepachangelog.com: "## [Unreleased]" first, then "## [X.Y.Z] - YYYY-MM-DD", newest first.

const UNRELEASED = "## [Unreleased]";
const KINDS = ["Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"];

/** The text with the unreleased changes under a new version, and an empty section for those to come. */
export function releaseChangelog(text, version, date) {
  const { body } = find(text, "Unreleased");
  if (body === "") throw new Error('CHANGELOG.md has nothing under "[Unreleased]": write what users get');
  if (sections(text).some(({ name }) => name === version)) throw new Error(`CHANGELOG.md has a version ${version}`);
  return text.replace(UNRELEASED, () => `${UNRELEASED}\n\n## [${version}] - ${date}`);
}

/** What the changelog says about a version, without its heading. */
export function notesOf(text, version) {
  return `${find(text, version).body}\n`;
}

/** What is wrong with the form of a changelog, as sentences. */
export function changelogProblems(text) {
  const found = sections(text);
  const problems = [];
  if (found[0]?.name !== "Unreleased") problems.push(`the first section is not "${UNRELEASED}"`);
  for (const { name, date, heading, body } of found) {
    if (name === undefined || (name === "Unreleased") !== (date === undefined))
      problems.push(`"${heading}" is neither "${UNRELEASED}" nor "## [X.Y.Z] - YYYY-MM-DD"`);
    for (const [, kind] of body.matchAll(/^### (.*)$/gm))
      if (!KINDS.includes(kind)) problems.push(`"### ${kind}" in "${heading}" is none of ${KINDS.join(", ")}`);
  }
  const dates = found.flatMap(({ date }) => date ?? []);
  if (dates.some((date, index) => index > 0 && date > dates[index - 1]))
    problems.push("the newest version is not first");
  return problems;
}

function find(text, name) {
  const section = sections(text).find((each) => each.name === name);
  if (section === undefined) throw new Error(`CHANGELOG.md has no section "## [${name}]"`);
  return section;
}

function sections(text) {
  return text
    .split(/^(?=## )/m)
    .slice(1)
    .map((section) => {
      const [heading] = section.split("\n", 1);
      const match = /^## \[([^\]]+)\](?: - (\d{4}-\d\d-\d\d))?$/.exec(heading);
      return { heading, name: match?.[1], date: match?.[2], body: section.slice(heading.length).trim() };
    });
}
