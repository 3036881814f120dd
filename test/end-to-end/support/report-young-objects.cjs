// node --require this: at SIGWINCH makes garbage, and says how much room V8 has given to young objects by then.
const { getHeapSpaceStatistics } = require("node:v8");

process.on("SIGWINCH", () => {
  const kept = [];
  for (let n = 0; n < 3e6; n++) kept[n % 20_000] = { n, text: String(n) };
  const young = getHeapSpaceStatistics().find(({ space_name: name }) => name === "new_space");
  process.stderr.write(`young objects have ${young.space_size / 2 ** 20} MB\n`);
});
