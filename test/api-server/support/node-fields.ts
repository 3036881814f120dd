import type { Cluster } from "./cluster";

interface Schema {
  readonly $ref?: string;
  readonly allOf?: readonly Schema[];
  readonly type?: string;
  readonly format?: string;
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: Schema;
}

/** Values that the API server takes where any text will not do. */
const SAMPLES: Readonly<Record<string, unknown>> = {
  finalizers: ["example.com/x"],
  podCIDR: "10.0.0.0/24",
  podCIDRs: ["10.0.0.0/24"],
  taints: [{ key: "x", effect: "NoSchedule" }],
  capacity: { cpu: "1" },
  allocatable: { cpu: "1" },
  conditions: [{ type: "x", status: "True" }],
  declaredFeatures: ["FeatureX"],
};

/** A merge patch for each field of a Node's metadata, spec and status, by the OpenAPI schema of the API server. */
export async function nodeFields({ controlPlane }: Cluster) {
  const text = await controlPlane.kubectl("get", "--raw", "/openapi/v3/api/v1");
  const schemas: Readonly<Record<string, Schema>> = JSON.parse(text).components.schemas;
  const resolve = ({ $ref, allOf, ...schema }: Schema): Schema => {
    const reference = $ref ?? allOf?.[0]?.$ref;
    return reference === undefined ? schema : resolve(schemas[reference.split("/").at(-1) ?? ""] ?? {});
  };
  const sampleOf = (given: Schema): unknown => {
    const { type, format, items = {}, properties = {}, additionalProperties } = resolve(given);
    if (type === "boolean") return true;
    if (type === "integer") return 1;
    if (type === "array") return [sampleOf(items)];
    if (type !== "object") return format === "date-time" ? "2026-01-01T00:00:00Z" : "x1";
    if (additionalProperties !== undefined) return { x: sampleOf(additionalProperties) };
    return Object.fromEntries(Object.entries(properties).map(([name, schema]) => [name, sampleOf(schema)]));
  };
  const { properties = {} } = schemas["io.k8s.api.core.v1.Node"] ?? {};
  return (["metadata", "spec", "status"] as const).flatMap((part) =>
    Object.entries(resolve(properties[part] ?? {}).properties ?? {}).map(([field, schema]) => ({
      part,
      field,
      body: { [part]: { [field]: SAMPLES[field] ?? sampleOf(schema) } },
    })),
  );
}
