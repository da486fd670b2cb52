// What the recording shows. Every step types into a real terminal and waits for what the screen shows then.
//
// type: keys, one after the other. until: what has to appear before the next step. pause: time to read, in milliseconds.

const ENTER = "\r";
const CTRL_C = "\u0003";
const CTRL_D = "\u0004";
const SHELL = /\$ $/;
const CONSOLE = />>> $/;

export const TITLE = "A terminal: rlm exec, rlm repl and rlm run";
export const DESCRIPTION =
  "rlm exec prints 42. In rlm repl, a cleared dictionary is back after :undo, and an endless loop is interrupted without losing it. " +
  "rlm run --demo answers a question with a tree of two models.";

export const SCENARIO = [
  { until: SHELL, pause: 700 },
  { type: "rlm exec -c 'print(6*7)'", pause: 250 },
  { type: ENTER, until: SHELL, pause: 900 },
  { type: "rlm repl", pause: 250 },
  { type: ENTER, until: CONSOLE, pause: 600 },
  { type: 'stock = {"lamps": 40, "ropes": 75}', pause: 200 },
  { type: ENTER, until: CONSOLE, pause: 250 },
  { type: "stock.clear()", pause: 250 },
  { type: ENTER, until: CONSOLE, pause: 400 },
  { type: ":undo", pause: 250 },
  { type: ENTER, until: CONSOLE, pause: 500 },
  { type: "stock", pause: 200 },
  { type: ENTER, until: CONSOLE, pause: 900 },
  { type: "while True: pass", pause: 200 },
  { type: ENTER, pause: 200 },
  { type: ENTER, pause: 1100 },
  { type: CTRL_C, until: CONSOLE, pause: 700 },
  { type: "sum(stock.values())", pause: 200 },
  { type: ENTER, until: CONSOLE, pause: 1000 },
  { type: CTRL_D, until: SHELL, pause: 400 },
  { type: "rlm run --demo", pause: 300 },
  { type: ENTER, until: SHELL, pause: 0 },
];
