// The version of this package, inserted by the build.

declare const __RLM_VERSION__: string;

export const VERSION: string = __RLM_VERSION__;
