// node --require this: a machine that has no /registration, whatever this one has for reasons of its own.
const fs = require("node:fs");

const { statSync } = fs;
fs.statSync = (path, ...options) =>
  statSync(path === "/registration" ? "/registration/is/not/here" : path, ...options);
