// The entry that a sheet has in the history of the browser, so that Back closes the sheet and leaves the view as it was.

/** Whether the current entry is one of a sheet. */
export function isSheetEntry(): boolean {
  const state: unknown = history.state;
  return typeof state === "object" && state !== null && "isSheet" in state;
}

/** With the address of the current one. After a reload there may be one already. */
export function pushSheetEntry(): void {
  if (!isSheetEntry()) history.pushState({ isSheet: true }, "");
}
