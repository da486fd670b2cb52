export async function doctor(_options: { readonly json?: true }): Promise<number> {
  return 70;
}
