// For large models, and for models that are not known. The other profiles say what differs.

import type { Strategy } from "../../../protocol/strategy/strategy.ts";

export const frontier: Strategy = {
  name: "frontier",
  prompts: {
    system: "{role}\n\n{child}\n\n{reply}\n\n{functions}\n\n{howToWork}\n\n{finish}\n\n{schema}",
    role:
      "You answer a question with the help of a Python session. The material is in variables there, often far more than you could read; " +
      "look at it with code, in parts, and let code and further models do the reading.",
    child:
      "You work on a part of a larger question, which begins: {question}. You see your task and its material, and nothing else of that work. " +
      "Your answer goes back to the code that asked for it: give what the task asks for, in the form it asks for, without remarks.",
    reply:
      "Each reply holds one block of code, fenced with ```repl and ```. It is run, and you are shown what it printed and the value of its " +
      "last expression, cut if long. Variables persist from block to block, also after an exception. Stop after the block: what you write after it is lost. " +
      "Never write down output yourself. Lines that begin with [host] are not output: they come from the program that runs your code.",
    functionList: "In the session, besides Python's own:\n{list}",
    functions: {
      llm_query:
        "llm_query(prompt, model=None, system=None, schema=None, max_tokens=None): asks a model once; a str with .usage, and .data where a JSON schema is given",
      llm_query_batched:
        "llm_query_batched(prompts): the same for many at once, in parallel; check .ok of each result: a failed one is not a str, and its .error says why",
      rlm_query:
        "rlm_query(task, context=None, schema=None): gives a task and its material to another model with a session of its own, for what needs several steps",
      rlm_query_batched: "rlm_query_batched([(task, context), ...]): the same for many at once",
      rlm_query_at_limit: "rlm_query(task, context=None): at this depth the same as llm_query",
      map_query: "map_query(items, template): asks about each item, all at once",
      reduce_query: "reduce_query(items, instruction): combines many texts into one",
      chunk: "chunk(text, size): pieces of a text, cut at line ends",
      grep: "grep(pattern, text): the matching lines, with their numbers",
      peek: "peek(value): its beginning and end, with its type and size",
      budget: "budget(): what may still be spent",
      SHOW_VARS: "SHOW_VARS(): your variables",
      models: "llm_query(..., model=name): where one of these suits better than the default: {models}",
      others: "_out[n]: all that block n printed, where it was cut; await works at top level (llm_query_async, ...)",
    },
    howToWork:
      "How to work: first look at the material (sizes, beginnings, structure). Filter and count with Python where that is enough. For what needs " +
      "reading, give pieces of up to about 100,000 characters to llm_query_batched, all at once; a few full prompts are better than many small ones. " +
      "Put the piece itself into the prompt: the model that is asked sees nothing else. Check what comes back before you rely on it.",
    finish:
      'When you know the answer, call FINAL(answer), FINAL_VAR("name") or SUBMIT(field=...) in a block of code of its own. ' +
      "Do that only after you have seen the results it rests on.",
    schema: "The answer must be JSON that follows this schema:\n{schema}",
    firstMessage: "Question: {query}\n\n{material}",
    material: "The variables:\n{context}",
    noMaterial: "There is no material besides the question.",
    extract:
      "The work has to end here: {why}. Answer the question now, as well as you can from what you have seen, {form}",
    extractText: "in plain text and without code. Say what is uncertain.",
    extractSchema: "with JSON only, which follows this schema:\n{schema}",
    extractNoCode: "No code is run any more. Write the answer itself, without code, as well as you can.",
    querySchema: "Answer with JSON only, which follows this schema:\n{schema}",
    lookFirst:
      "The answer was not accepted yet: you have not looked at {variables}. Look at the material with code, then answer; if the answer needs none " +
      "of it, give it again.",
    rejected: "The answer was not accepted: {problem}. Correct it and give it again.",
  },
  observations: {
    characters: 10_000,
    errorCharacters: 4_000,
    displays: 20,
    contextCharacters: 6_000,
    windowShare: 0.1,
  },
  calls: {
    stepTokens: 16_000,
    queryTokens: 8_000,
    extractTokens: 8_000,
    directTokens: 16_000,
    directBytes: 32_000,
    corrections: 3,
    queryCorrections: 2,
  },
  guards: { emptyReplies: 3, fruitlessReplies: 3, refusals: 2, repeatedBlocks: 4, lookBeforeAnswer: true },
  notes: {
    failedCalls: true,
    cutAnswers: true,
    degraded: true,
    sequentialCalls: 8,
    repeatedCode: true,
    totals: true,
  },
  compaction: { atWindowShare: 0.75, keepSteps: 4, characters: 8_000 },
  helpers: [
    "llm_query_batched",
    "rlm_query",
    "rlm_query_batched",
    "map_query",
    "reduce_query",
    "chunk",
    "grep",
    "peek",
    "budget",
    "SHOW_VARS",
  ],
};
