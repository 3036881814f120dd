import { once } from "node:events";
import type { IncomingMessage } from "node:http";
import { Agent, request } from "node:https";

/** Where a node's kubelet finds the API server. */
export interface Server {
  readonly url: string;
  readonly ca: string;
  readonly token: string;
}

/** What kubelet asks the API server for about one driver, on a connection of its own. */
export interface KubeletCalls extends Disposable {
  /** Makes the Node and, empty, its CSINode. */
  join(): Promise<void>;
  /**
   * Registers or deregisters a driver, as pkg/volume/csi/nodeinfomanager of 1.36 does: reads the Node, patches its
   * annotations by way of its status, reads CSINode, updates it. Resolves with its milliseconds.
   */
  setDriver(driver: string | undefined): Promise<number>;
}

/** Makes the calls of the node `name`; nothing is connected yet. */
export function createKubeletCalls({ url, ca, token }: Server, name: string): KubeletCalls {
  const agent = new Agent({ keepAlive: true, maxSockets: 1, ca });
  const call = async (method: string, path: string, body?: object, contentType = "application/json") => {
    const sent = request(`${url}${path}`, {
      agent,
      method,
      headers: { authorization: `Bearer ${token}`, ...(body && { "content-type": contentType }) },
    }).end(body && JSON.stringify(body));
    const [response] = (await once(sent, "response")) as [IncomingMessage];
    let text = "";
    for await (const chunk of response) text += chunk;
    const code = response.statusCode ?? 0;
    if (code >= 300) throw new Error(`${method} ${path}: ${code} ${text}`);
    return JSON.parse(text);
  };
  const csiNodes = "/apis/storage.k8s.io/v1/csinodes";
  const node = `/api/v1/nodes/${name}`;
  return {
    join: async () => {
      await call("POST", "/api/v1/nodes", { kind: "Node", apiVersion: "v1", metadata: { name } });
      const csiNode = {
        kind: "CSINode",
        apiVersion: "storage.k8s.io/v1",
        metadata: { name },
        spec: { drivers: [] },
      };
      await call("POST", csiNodes, csiNode);
    },
    setDriver: async (driver) => {
      const begin = performance.now();
      await call("GET", node);
      const annotations = {
        "csi.volume.kubernetes.io/nodeid": driver ? JSON.stringify({ [driver]: name }) : null,
      };
      const merge = "application/strategic-merge-patch+json";
      await call("PATCH", `${node}/status`, { metadata: { annotations } }, merge);
      const csiNode = await call("GET", `${csiNodes}/${name}`);
      const drivers = driver
        ? [{ name: driver, nodeID: name, topologyKeys: [], allocatable: { count: 25 } }]
        : [];
      await call("PUT", `${csiNodes}/${name}`, { ...csiNode, spec: { drivers } });
      return performance.now() - begin;
    },
    [Symbol.dispose]: () => agent.destroy(),
  };
}
