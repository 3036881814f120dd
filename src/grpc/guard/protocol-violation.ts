import { RegistrarError } from "../../base/errors";

/** Gives up on a peer that broke a protocol's rules or one of our bounds; `reason` goes to the log as it is. */
export function refuseFrame(reason: string): never {
  throw new RegistrarError("PROTOCOL", reason);
}
