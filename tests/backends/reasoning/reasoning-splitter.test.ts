import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  ReasoningSplitter,
  type Piece,
  type ReasoningHabit,
} from "../../../src/backends/reasoning/reasoning-splitter.ts";
import type { FinishReason } from "../../../src/protocol/usage.ts";

interface SplitOptions {
  readonly habit?: ReasoningHabit;
  readonly asked?: string;
  readonly finishReason?: FinishReason;
}

interface Split {
  readonly text: string;
  readonly reasoning: string;
  readonly habit: ReasoningHabit | undefined;
}

function split(pieces: readonly string[], { habit, asked, finishReason = "stop" }: SplitOptions = {}): Split {
  let learned = habit;
  const splitter = new ReasoningSplitter({
    habit,
    isAskedFor: (marker) => marker === asked,
    onHabit: (shown) => {
      learned = shown;
    },
  });
  let [text, reasoning] = ["", ""];
  const add = (piece: Piece): void => {
    if (piece.type === "reclassify") {
      [text, reasoning] = piece.as === "text" ? [reasoning + text, ""] : ["", reasoning + text];
    } else if (piece.type === "text-delta") text += piece.text;
    else reasoning += piece.text;
  };
  for (const piece of pieces) splitter.push(piece).forEach(add);
  splitter.end(finishReason).forEach(add);
  return { text, reasoning, habit: learned };
}

const CODE = "```python\nprint(1)\n```";

describe("ReasoningSplitter", () => {
  test.each([
    ["<think>hm</think>Paris", "Paris", "hm"],
    ["\n<think>\nhm\n</think>\n\nParis\n", "Paris\n", "\nhm\n"],
    ["<think>\n\n</think>\n\nParis", "Paris", "\n\n"],
    ["<thinking>hm</thinking>Paris", "Paris", "hm"],
    ["<thought>hm</thought>Paris", "Paris", "hm"],
    ["<reasoning>hm</reasoning>Paris", "Paris", "hm"],
    ["<Think>hm</THINK>Paris", "Paris", "hm"],
    ["<seed:think>hm</seed:think>Paris", "Paris", "hm"],
    ["<mm:think>hm</mm:think>Paris", "Paris", "hm"],
    ["[THINK]hm[/THINK]Paris", "Paris", "hm"],
    ["◁think▷hm◁/think▷Paris", "Paris", "hm"],
    ["<|begin_of_thought|>hm<|end_of_thought|>Paris", "Paris", "hm"],
    ["<|START_THINKING|>hm<|END_THINKING|>Paris", "Paris", "hm"],
    ["<|channel>thought\nhm<channel|>Paris", "Paris", "\nhm"],
    [
      "<|channel|>analysis<|message|>hm<|end|><|start|>assistant<|channel|>final<|message|>Paris<|return|>",
      "Paris",
      "hm",
    ],
    ["<|start|>assistant<|channel|>analysis<|message|>hm<|channel|>final<|message|>Paris", "Paris", "hm"],
    ["<|channel|>final <|constrain|>json<|message|>{}", "{}", ""],
    ["First.\n<think>hm</think>\nParis", "First.\n\nParis", "hm"],
    ["<think>a</think>\nFirst.\n\n <think>b</think>Paris", "First.\n\n Paris", "ab"],
    [`<think>${CODE}</think>${CODE}`, CODE, CODE],
    [`<think>\n\`\`\`python\nopen\n</think>\n${CODE}`, CODE, "\n```python\nopen\n"],
    ["<think>FINAL(1)\nnever closed", "", "FINAL(1)\nnever closed"],
    ["<think>a <think> b</think>Paris", "Paris", "a <think> b"],
    ["<think>never closed </thi", "", "never closed </thi"],
  ])("splits %j", (reply, text, reasoning) => {
    expect(split([reply])).toMatchObject({ text, reasoning });
  });

  test.each([
    "Paris",
    "",
    " \n",
    "<",
    "<thi",
    "a < b, x[t], <table>, [TODO] and <|im_end|>",
    "The tag <think> opens it and </think> closes it",
    "Use `</think>` to close it",
    "Use `<think>draft</think>` as the example",
    "```python\nre.sub(r'<think>.*?</think>', '', s)\n```",
    '```python\ns = """\n<think>\n</think>\n"""\n```',
    "~~~\n<think>x</think>\n~~~",
    "- ```python\n  <think>\n  ```\n",
    "<thinker>x</thinker>",
    "<|channel|>commentary to=functions.python<|message|>{}<|call|>",
    "the <|end|> of it",
  ])("leaves %j as it is", (reply) => {
    expect(split([reply])).toMatchObject({ text: reply, reasoning: "" });
  });

  test("takes text before a closing marker without an opening one for reasoning, and remembers it", () => {
    const leading = { text: "Paris", reasoning: "Okay, they want a city.", habit: "leading" };
    expect(split(["Okay, they want a city.</think>\n\nParis"])).toEqual(leading);
    expect(split([`Okay.\n${CODE}\nthen\n</think>Paris`])).toMatchObject({ text: "Paris", habit: "leading" });
    expect(split(["Okay.\n```python\nleft open\n</think>\nParis"])).toMatchObject({ text: "Paris" });
    expect(split(["Okay</think>"])).toEqual({ text: "", reasoning: "Okay", habit: "leading" });
    expect(split(["</think>\n\nParis"])).toEqual({ text: "Paris", reasoning: "", habit: undefined });
    expect(split(["<think>a</think> b </think> Paris"])).toEqual({ text: "Paris", reasoning: "ab ", habit: undefined });
    expect(split(["Paris"])).toMatchObject({ habit: "plain" });
    expect(split(["Paris"], { finishReason: "length" })).toMatchObject({ habit: undefined });
  });

  test("expects reasoning first from a model that begins with it", () => {
    const habit = "leading";
    expect(split(["Okay.\n</think>\nParis"], { habit })).toEqual({ text: "Paris", reasoning: "Okay.\n", habit });
    expect(split([`${CODE}</think>Paris`], { habit })).toEqual({ text: "Paris", reasoning: CODE, habit });
    expect(split(["\n<think>Okay</think>Paris"], { habit })).toMatchObject({ text: "Paris", habit });
    expect(split(["Okay, so"], { habit, finishReason: "length" })).toEqual({ text: "", reasoning: "Okay, so", habit });
    expect(split(["Paris"], { habit })).toEqual({ text: "Paris", reasoning: "", habit: "plain" });
  });

  test("leaves a marker that the request asks for, but for <think>", () => {
    const reply = "<reasoning>a</reasoning><answer>b</answer>";
    expect(split([reply], { asked: "<reasoning>" })).toMatchObject({ text: reply, reasoning: "" });
    expect(split([reply])).toMatchObject({ text: "<answer>b</answer>", reasoning: "a" });
  });

  test("takes text for what it is where the provider keeps reasoning apart", () => {
    const splitter = new ReasoningSplitter({ habit: "leading", isAskedFor: () => false, onHabit: () => {} });
    splitter.noteReasoning();
    expect(splitter.push("Paris")).toEqual([{ type: "text-delta", text: "Paris" }]);
  });

  const word = fc.constantFrom(
    ..."<think> </think> <reasoning> </reasoning> [THINK] [/THINK] <|channel|>analysis<|message|> <|end|> <|start|>assistant".split(
      " ",
    ),
    ..."<|channel|>final<|message|> <|channel|> ◁think▷ ◁/think▷ < </ [ <| ``` ```python ` ~~~ \n \r\n".split(" "),
    "\n",
    "\n\n",
    " ",
    "text",
    "x = 1\n",
    "é👋",
  );
  const reply = fc.array(word, { maxLength: 14 }).map((words) => words.join(""));
  const options = fc.record(
    {
      habit: fc.constantFrom<ReasoningHabit>("leading", "plain"),
      finishReason: fc.constantFrom<FinishReason>("stop", "length"),
      asked: fc.constant("<reasoning>"),
    },
    { requiredKeys: [] },
  );

  test("gives the same however the reply is cut into pieces", () => {
    fc.assert(
      fc.property(reply, fc.array(fc.nat({ max: 6 })), options, (text, sizes, given) => {
        const pieces: string[] = [];
        let from = 0;
        for (const size of sizes) pieces.push(text.slice(from, (from += size)));
        pieces.push(text.slice(from));
        expect(split(pieces, given)).toEqual(split([text], given));
        expect(split(Array.from(text), given)).toEqual(split([text], given));
      }),
      { numRuns: 2000 },
    );
  });

  test("loses nothing but markers and white space", () => {
    const kept = (text: string): string => text.replaceAll(/[^x1é👋`~]/gu, "");
    fc.assert(
      fc.property(reply, options, (all, given) => {
        const { text, reasoning } = split([all], given);
        expect(kept(text + reasoning).length).toBe(kept(all).length);
      }),
      { numRuns: 1000 },
    );
  });

  test("takes linear time for a reply full of beginnings of markers", () => {
    for (const part of ["<", "</think", "<|channel|>", "<think>", "`", "[T", "\n", " "]) {
      const all = split([part.repeat(30_000)]);
      expect(all.text.length + all.reasoning.length).toBeGreaterThan(0);
    }
  });
});
