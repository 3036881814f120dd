import { vetPrograms } from "./support/build";
import { newestVersion } from "./support/versions";

test("go vet finds nothing in the Go programs", async () => {
  await vetPrograms(newestVersion);
});
