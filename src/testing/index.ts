// For tests of programs that use the SDK: every public name, listed one by one.

// A scripted model: it answers from a script, without a network.
export { createScriptedBackend } from "./create-scripted-backend.ts";
export type {
  Script,
  ScriptedAnswer,
  ScriptedBackend,
  ScriptedFault,
  ScriptedReply,
} from "../backends/scripted/script.ts";

// The contract of a runtime: a suite for other implementations of `Runtime`.
export {
  describeRuntime,
  runContractCase,
  runtimeContract,
  type RuntimeContractOptions,
  type TestRunner,
} from "./runtime-contract.ts";
export { contractScript } from "./contract/script.ts";
export type { ContractCase, ContractContext, Need, OptionalFeature } from "./contract/case.ts";
