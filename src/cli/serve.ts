export interface ServeArguments { readonly port: number; readonly host: string; readonly allowHost?: readonly string[] }
export async function serve(_options: ServeArguments): Promise<number> { return 70; }
