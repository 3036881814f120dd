import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { createTempFolder } from "../../support/temp-folder";

export function makeCertificate(folder: string, name: string) {
  const [certificateFile, keyFile] = [join(folder, `${name}.crt`), join(folder, `${name}.key`)];
  const made = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"];
  const said = ["-subj", `/CN=${name}`, "-addext", "subjectAltName=IP:127.0.0.1,IP:::1,DNS:localhost"];
  const files = ["-keyout", keyFile, "-out", certificateFile];
  execFileSync("openssl", ["req", "-x509", ...made, ...said, ...files], { stdio: "pipe" });
  return { certificate: readFileSync(certificateFile, "utf8"), key: readFileSync(keyFile, "utf8") };
}

let apiServers: Promise<ReturnType<typeof makeCertificate>> | undefined;

/** The one of every API server in a test file. */
export function apiServerCertificate() {
  apiServers ??= (async () => {
    await using folder = await createTempFolder();
    return makeCertificate(folder.path, "api-server");
  })();
  return apiServers;
}
