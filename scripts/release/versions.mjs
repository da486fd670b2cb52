// Versions as semver.org defines them, without build metadata, which npm ignores.

const VERSION = /^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(?:-([\da-z-]+(?:\.[\da-z-]+)*))?$/i;

/** The version that follows `current`: `wanted` is patch, minor, major or the version itself. */
export function nextVersion(current, wanted) {
  const { numbers, prerelease } = parse(current);
  const [major, minor, patch] = numbers;
  // The release of a prerelease has the same numbers, if they are what was asked for: minor makes 0.2.0 of 0.2.0-rc.1.
  const isOpen = prerelease !== undefined;
  switch (wanted) {
    case "patch":
      return isOpen ? numbers.join(".") : `${major}.${minor}.${patch + 1}`;
    case "minor":
      return isOpen && patch === 0 ? numbers.join(".") : `${major}.${minor + 1}.0`;
    case "major":
      return isOpen && minor === 0 && patch === 0 ? numbers.join(".") : `${major + 1}.0.0`;
    default:
      parse(wanted);
      return wanted;
  }
}

/** Negative if `a` is older than `b`, positive if it is newer, 0 if they are the same. */
export function compareVersions(a, b) {
  const [left, right] = [parse(a), parse(b)];
  for (const [index, number] of left.numbers.entries()) {
    if (number !== right.numbers[index]) return number - right.numbers[index];
  }
  return comparePrereleases(left.prerelease, right.prerelease);
}

export function isVersion(text) {
  return VERSION.test(text);
}

function parse(text) {
  const match = VERSION.exec(text);
  if (match === null) throw new Error(`"${text}" is not a version: use patch, minor, major or X.Y.Z`);
  return { numbers: match.slice(1, 4).map(Number), prerelease: match[4]?.split(".") };
}

/** A prerelease is older than its release. Numbers are compared as numbers, and are older than words. */
function comparePrereleases(a, b) {
  if (a === undefined || b === undefined) return (a === undefined ? 1 : 0) - (b === undefined ? 1 : 0);
  for (let index = 0; index < Math.max(a.length, b.length); index += 1) {
    const [left, right] = [a[index], b[index]];
    if (left === right) continue;
    if (left === undefined) return -1;
    if (right === undefined) return 1;
    const [isNumber, isOtherNumber] = [/^\d+$/.test(left), /^\d+$/.test(right)];
    if (isNumber && isOtherNumber) return Number(left) - Number(right);
    if (isNumber !== isOtherNumber) return isNumber ? -1 : 1;
    return left < right ? -1 : 1;
  }
  return 0;
}
