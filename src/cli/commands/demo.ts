export async function runDemo(_argv: readonly string[]): Promise<number> {
  return 1;
}
