import { createYamlReader } from "../../../src/tools/doctor/files/read/yaml";

// What sigs.k8s.io/yaml 1.4, which kubectl has, makes of each; only to templates it says no.
test.each<readonly [yaml: string, object: unknown]>([
  ["[yes, No, on, OFF, y, n, true]", [true, false, true, false, true, false, true]],
  ["['yes', yeS, e2, ., 1:30, 2001-01-01, 0o8]", ["yes", "yeS", "e2", ".", "1:30", "2001-01-01", "0o8"]],
  ["[0644, -0644, 0o17, 08, 0x1f, 0b11, 1_000, +5, 1.5, 1e3]", [420, -420, 15, 8, 31, 3, 1000, 5, 1.5, 1000]],
  ["[~, null, ]", [null, null]],
  ["{a: 1, b: 2, a: 3}", { a: 3, b: 2 }],
  ["x: &x {a: 1, b: 2}\nz:\n  <<: *x\n  b: 3", { x: { a: 1, b: 2 }, z: { a: 1, b: 3 } }],
  ["x: &x {a: 1}\nz:\n  <<: [*x, {b: 2}]", { x: { a: 1 }, z: { a: 1, b: 2 } }],
  [
    "namespace: {{ .X }}\nargs:\n- --a={{ .Y }}\n- '{{ .Z }}'\n- {a: 1}",
    { namespace: "{{ .X }}", args: ["--a={{ .Y }}", "{{ .Z }}", { a: 1 }] },
  ],
  ["y: 1", { true: 1 }],
  [`a: &a [1]\nb: [${"*a,".repeat(100)}]`, { a: [1], b: Array(100).fill([1]) }],
  ["{{ .key }}: 1", { "{{ .key }}": 1 }],
])("%s", async (yaml, object) => {
  expect((await createYamlReader())(yaml, 1)).toEqual({ kind: "object", object });
});

test.each([
  ["a: {{ .X }}\n  {{- toYaml .Y | nindent 2 }}", "{{ .X }}, line 11"],
  ["# {{ a comment }}\na:\n{{- if or .Values.a\n  .Values.b }}", "{{- if or .Values.a, line 13"],
  [
    `{{ ${"x".repeat(200)} }}\n: [`,
    expect.stringMatching(/^\{\{ x+ \[cut, 206 characters in all\], line 11$/),
  ],
])("%s is a template", async (yaml, where) => {
  expect((await createYamlReader())(yaml, 11)).toEqual({ kind: "template", where });
});

test.each([
  ["a: 'b\nc", /Missing closing 'quote, line 12$/],
  ["a: [", /, line 11$/],
  [`a: &a 1\nb: [${"*a,".repeat(101)}]`, /^it has more than 100 aliases in one document: give it as JSON/],
])("%s is not YAML", async (yaml, message) => {
  const readYaml = await createYamlReader();
  expect(() => readYaml(yaml, 11)).toThrow(message);
});
