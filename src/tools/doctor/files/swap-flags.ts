import { textFlag } from "../../../flags/kinds";
import { checkNamed, checkPinned } from "../../manifest/names";
import { isOtherSidecar, lastPart } from "../../recognise/image";
import { parseOurImage } from "../../recognise/program";

/** What an image is, and what changes if ours takes its place; for files and for a cluster. */
export const SWAP_FLAGS = {
  image: textFlag("this registrar's image, or one to swap"),
  swap: { ...textFlag("what a swap to our image changes", parseOurImage), bare: "" },
} as const;

/** Throws for an image that has no place in a cluster. */
export function checkSwap({
  image,
  swap,
}: Readonly<Record<keyof typeof SWAP_FLAGS, string | undefined>>): void {
  if (image !== undefined) checkNamed("image", "image", image);
  if (swap) checkPinned("swap", swap);
  if (swap !== undefined && image !== undefined && isOtherSidecar(lastPart(image)))
    throw new Error(`--image "${image}" is another sidecar, which a registrar cannot replace`);
}
