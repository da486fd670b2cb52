// Words for recorded runs: the log of a harbour, and what models and code say about it. The same for the same seed.

const SHIPS = ["Aurora", "Brigid", "Corvus", "Dorada", "Estrel", "Fjord", "Gannet", "Halcyon"];
const CARGO = ["barrels of salt", "bales of wool", "crates of tea", "sacks of grain", "casks of oil", "coils of rope"];
const WEATHER = ["fog until noon", "wind from the west", "calm", "rain", "a swell from the north", "clear"];
const CORPUS_LINES = 6_000;

export class Texts {
  #state: number;
  readonly #corpus: string;

  constructor(seed: number) {
    this.#state = seed;
    this.#corpus = Array.from({ length: CORPUS_LINES }, (_, day) => this.#line(day)).join("\n");
  }

  /** From 0 up to 1: a linear congruential generator, which is random enough for words. */
  random(): number {
    this.#state = (Math.imul(this.#state, 1_664_525) + 1_013_904_223) >>> 0;
    return this.#state / 2 ** 32;
  }

  /** Goes on like another one with this seed. */
  restart(seed: number): void {
    this.#state = seed;
  }

  between(low: number, high: number): number {
    return low + this.random() * (high - low);
  }

  whole(low: number, high: number): number {
    return Math.floor(this.between(low, high + 1));
  }

  isOnce(inHowMany: number): boolean {
    return this.random() * inHowMany < 1;
  }

  pick<Item>(items: readonly [Item, ...Item[]]): Item {
    return items[Math.floor(this.random() * items.length)] ?? items[0];
  }

  /** Lines of the log. */
  log(characters: number): string {
    const from = Math.floor(this.random() * (this.#corpus.length - characters));
    return this.#corpus.slice(Math.max(0, from), Math.max(0, from) + characters);
  }

  reply(step: number): { readonly thought: string; readonly code: string } {
    const ship = SHIPS[Math.floor(this.random() * SHIPS.length)] ?? "";
    const cargo = CARGO[Math.floor(this.random() * CARGO.length)] ?? "";
    const thought = `Step ${step}. The entries about the ${ship} have to be separated from the rest before I can count the ${cargo}.`;
    const code = [
      "import re",
      `pattern = re.compile(r"the ${ship} .* (\\d+) ${cargo}")`,
      "rows = [(int(match.group(1)), line) for line in context.splitlines() if (match := pattern.search(line))]",
      'print(len(rows), "entries,", sum(count for count, _ in rows), "in all")',
      "for count, line in sorted(rows, reverse=True)[:40]:",
      '    print(f"{count:>4}  {line}")',
    ].join("\n");
    return { thought, code };
  }

  #line(day: number): string {
    const ship = SHIPS[Math.floor(this.random() * SHIPS.length)];
    const cargo = CARGO[Math.floor(this.random() * CARGO.length)];
    return `Day ${day + 1}: ${WEATHER[Math.floor(this.random() * WEATHER.length)]}; the ${ship} came in with ${Math.floor(this.random() * 90) + 10} ${cargo}.`;
  }
}
