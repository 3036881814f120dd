import { version } from "../../runtime/version";
import { programOf } from "./program";

/** Reads the name of this registrar's image. A mirror may have the official one's name, with this version as its tag. */
export function parseOurImage(image: string): string {
  if (programOf({ image }, { version }).kind !== "official") return image;
  throw new Error(
    `"${image}" is the official registrar's image; name the one that takes its place, and give a copy of this registrar another tag`,
  );
}
