export interface Access {
  readonly server: string;
  /** The authority's certificate, and the client's with its key: files. */
  readonly authority: string;
  readonly certificate: string;
  readonly key: string;
}

/** A kubeconfig with one cluster, one user and one context. JSON is YAML. */
export function kubeconfigText({ server, authority, certificate, key }: Access): string {
  return JSON.stringify({
    apiVersion: "v1",
    kind: "Config",
    clusters: [{ name: "cluster", cluster: { server, "certificate-authority": authority } }],
    users: [{ name: "user", user: { "client-certificate": certificate, "client-key": key } }],
    contexts: [{ name: "cluster", context: { cluster: "cluster", user: "user" } }],
    "current-context": "cluster",
  });
}
