// A CSI driver with grpc-js alone, as far as registration sees one. It ends with its stdin.
import { parseArgs } from "node:util";
import { Server, ServerCredentials, type sendUnaryData } from "@grpc/grpc-js";
import { protos } from "../../src/grpc/protos";

const text = { type: "string", default: "" } as const;
const { values: flags } = parseArgs({ options: { socket: text, name: text, "node-id": text } });
const answering = (response: object) => (_call: unknown, answer: sendUnaryData<object>) =>
  answer(null, response);

const server = new Server();
server.addService(protos.identity, { GetPluginInfo: answering({ name: flags.name, vendorVersion: "1.0" }) });
server.addService(protos.node, { NodeGetInfo: answering({ nodeId: flags["node-id"] }) });
server.bindAsync(`unix:${flags.socket}`, ServerCredentials.createInsecure(), (error) => {
  if (error) throw error;
});
process.stdin.resume().once("end", () => process.exit(0));
