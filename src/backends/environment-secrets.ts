// Keys in the environment of the host. Model objects of the AI SDK take theirs from there, under names that we do not know.

const NAME = /(?:^|_)(?:API_?KEY|ACCESS_KEY|TOKEN(?:_BEDROCK)?|SECRET|PASSWORD)$/i;
/** Shorter values would redact ordinary words. */
const MIN_CHARACTERS = 12;

export function environmentSecrets(env: NodeJS.ProcessEnv = process.env): readonly string[] {
  const values = Object.entries(env).map(([name, value = ""]) => (NAME.test(name) ? value.trim() : ""));
  return values.filter(({ length }) => length >= MIN_CHARACTERS);
}
