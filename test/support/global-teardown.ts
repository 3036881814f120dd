import { rmSync } from "node:fs";

/** Jest's global teardown. */
export default function globalTeardown(): void {
  const { REGISTRAR_RUN_FOLDER } = process.env;
  if (REGISTRAR_RUN_FOLDER !== undefined) rmSync(REGISTRAR_RUN_FOLDER, { recursive: true, force: true });
}
