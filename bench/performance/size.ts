import { packPackage } from "../../test/package/support/packed-package";
import type { Row } from "../bench";

/** The tarball as `npm run package` makes it. */
export async function size(): Promise<readonly Row[]> {
  await using packed = await packPackage();
  return [["packed tarball", `${(packed.packedBytes / 1e6).toFixed(2)} MB`, ""]];
}
