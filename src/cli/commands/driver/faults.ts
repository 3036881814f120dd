import { status } from "@grpc/grpc-js";
import { CSI_METHODS, type CsiDriverFault } from "../../../simulator/csi-driver-options";
import { parseChoice, parseCount, parseDuration } from "../../command-flags";

type ErrorCode = Extract<CsiDriverFault, { readonly kind: "error" }>["code"];
const ERROR_CODES = Object.keys(status).filter(
  (name): name is ErrorCode => /^[A-Z]/.test(name) && name !== "OK",
);

/** `NodeGetInfo=500ms`, `NodeGetInfo=500ms:3` for the first three calls. Throws for anything else. */
export function parseDelay(text: string): CsiDriverFault {
  const { method, value, times } = parseFault(text, "NodeGetInfo=500ms");
  return { kind: "slow", method, delayMs: parseDuration(value), ...times };
}

/** `GetPluginInfo=UNAVAILABLE`, `GetPluginInfo=UNAVAILABLE:3` for the first three calls. Throws for anything else. */
export function parseError(text: string): CsiDriverFault {
  const { method, value, times } = parseFault(text, "GetPluginInfo=UNAVAILABLE:3");
  return { kind: "error", method, code: parseChoice(value, ERROR_CODES), ...times };
}

/** `NodeGetInfo`, `NodeGetInfo:1` for the first call. Throws for anything else. */
export function parseHang(text: string): CsiDriverFault {
  const [method = "", times] = text.split(":");
  return { kind: "hang", method: parseChoice(method, CSI_METHODS), ...timesOf(times) };
}

function parseFault(text: string, example: string) {
  const { method, value, times } =
    /^(?<method>\w+)=(?<value>\w[\w.]*)(?::(?<times>\w+))?$/.exec(text)?.groups ?? {};
  if (method === undefined || value === undefined) throw new Error(`"${text}" must have the form ${example}`);
  return { method: parseChoice(method, CSI_METHODS), value, times: timesOf(times) };
}

function timesOf(text: string | undefined): { readonly times?: number } {
  return text === undefined ? {} : { times: parseCount(text) };
}
