import { bareCall } from "../../../grpc/client/bare-call";
import { ENDPOINT_KEY, SELF_CHECK_KEY, STATE_KEY } from "../../../registrar/registration/self-check";

/** What a registrar answers about itself and its driver. */
export interface SelfReport {
  readonly name: string;
  /** URI-encoded. */
  readonly endpoint: string;
  /** Undefined: a registrar other than ours, such as the official one. */
  readonly state: string | undefined;
}

/** A driver that takes longer counts as slow: a probe itself has one second by default. */
const QUICK_DRIVER_MS = 300;

/** GetInfo marked as a self-check: our registrars answer it with headers about themselves. */
export async function askRegistrar(socketPath: string, timeoutMs: number): Promise<SelfReport> {
  const { headers, message } = await bareCall(socketPath, "/pluginregistration.Registration/GetInfo", {
    timeoutMs,
    fields: { [SELF_CHECK_KEY]: "1" },
  });
  const name = textIn(message, PLUGIN_NAME_FIELD);
  const endpoint = headers[ENDPOINT_KEY];
  return endpoint === undefined
    ? { name, endpoint: encodeURI(textIn(message, ENDPOINT_FIELD)), state: undefined }
    : { name, endpoint: String(endpoint), state: String(headers[STATE_KEY] ?? "") };
}

/** The name of the driver behind a socket; undefined if none answers at once. */
export async function quickNameOf(csiSocketPath: string): Promise<string | undefined> {
  const asking = bareCall(csiSocketPath, "/csi.v1.Identity/GetPluginInfo", { timeoutMs: QUICK_DRIVER_MS });
  return asking.then(
    ({ grpcStatus, message }) => (grpcStatus === "0" ? textIn(message, DRIVER_NAME_FIELD) : undefined),
    () => undefined,
  );
}

/** PluginInfo.name and PluginInfo.endpoint (pluginregistration/v1/api.proto). */
const PLUGIN_NAME_FIELD = 2;
const ENDPOINT_FIELD = 3;
/** GetPluginInfoResponse.name (csi.proto). */
const DRIVER_NAME_FIELD = 1;

/** A field of a protobuf message that has texts only; empty if it is missing. */
function textIn(message: Buffer, wanted: number): string {
  let at = 0;
  const varint = () => {
    let value = 0;
    for (let shift = 0; at < message.length; shift += 7) {
      const byte = message.readUInt8(at++);
      value += (byte & 0x7f) * 2 ** shift;
      if (byte < 0x80) break;
    }
    return value;
  };
  while (at < message.length) {
    const field = varint() >>> 3;
    const length = varint();
    if (field === wanted) return message.toString("utf8", at, at + length);
    at += length;
  }
  return "";
}
