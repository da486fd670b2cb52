// Saves what a task printed as a file of the reader.

export async function saveOutput(id: string, pieces: AsyncIterable<Uint8Array>): Promise<void> {
  const parts: BlobPart[] = [];
  for await (const piece of pieces) parts.push(new Uint8Array(piece));
  // As bytes: the browser shows none of it as a page.
  const address = URL.createObjectURL(new Blob(parts, { type: "application/octet-stream" }));
  const link = document.createElement("a");
  link.href = address;
  link.download = `${id.replaceAll(/[^\w.-]/g, "_")}.txt`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}
