// Tasks with known answers, generated from a seed.

const NOISE = [
  "The grass is green. The sky is blue. The sun is yellow. Here we go. There and back again.",
  "Rain fell on the hills for most of the afternoon, and nobody came down the road.",
  "She counted the boats twice and wrote the number on the back of an envelope.",
  "In winter the mill stood still, and the ice kept the wheel where it was.",
];
const WORDS = ["amber", "birch", "cedar", "delta", "ember", "fjord", "grove", "heath", "islet", "knoll"];

/** One line with the number among other lines; a third of those have other numbers. */
export function haystack(seed, characters) {
  const random = createRandom(seed);
  const pick = (values) => values[Math.floor(random() * values.length)];
  const key = `${pick(WORDS)}-${pick(WORDS)}-${seed % 2 === 0 ? "north" : "south"}`;
  const answer = String(1_000_000 + Math.floor(random() * 9_000_000));
  const lines = [];
  for (let length = 0; length < characters;) {
    const line =
      random() < 0.33 ? `Item ${Math.floor(random() * 1e9)} was moved to shelf ${pick(WORDS)}.` : pick(NOISE);
    lines.push(line);
    length += line.length + 1;
  }
  lines.splice(Math.floor(random() * lines.length), 0, `One of the special magic numbers for ${key} is: ${answer}.`);
  const query = `What is the special magic number for ${key} mentioned in the text?`;
  return { query, context: lines.join("\n").slice(0, characters + 100), answer };
}

const SUBJECTS = {
  place: ["Where is the longest river?", "Which town has two rivers?", "Where do the hills end?"],
  person: ["Who built the first mill?", "Who sold the boats?", "Whose envelope was it?"],
  number: ["How many boats were there?", "How far is it to the mill?", "How long did it rain?"],
  thing: ["What kept the wheel still?", "What was on the envelope?", "What is yellow?"],
};

/** Unlabelled questions of users, and how many there are of each kind. */
export function aggregation(count) {
  const random = createRandom(count);
  const kinds = Object.keys(SUBJECTS);
  const kindOf = new Map(kinds.flatMap((kind) => SUBJECTS[kind].map((text) => [text, kind])));
  const texts = [...kindOf.keys()];
  const lines = Array.from({ length: count }, (_, index) => {
    const user = 10_000 + Math.floor(random() * 500);
    return `Line: ${index} || User: ${user} || Instance: ${texts[Math.floor(random() * texts.length)]}`;
  });
  const classify = (line) => kindOf.get(line.split("Instance: ")[1]);
  const answer = {};
  for (const line of lines) answer[classify(line)] = (answer[classify(line)] ?? 0) + 1;
  return { query: "How many questions are there of each kind?", context: lines.join("\n"), answer, classify };
}

/** A linear congruential generator: the same on every machine. */
function createRandom(seed) {
  let state = (seed * 2_654_435_761 + 12_345) % 4_294_967_296;
  return () => {
    state = (state * 1_664_525 + 1_013_904_223) % 4_294_967_296;
    return state / 4_294_967_296;
  };
}
