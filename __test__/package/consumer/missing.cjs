// Prints how the package fails when no addon is installed.
try {
  const core = require("agent-rewind");
  console.log(JSON.stringify({ loaded: Object.keys(core) }));
} catch (error) {
  const { code, message } = error;
  console.log(JSON.stringify({ code, message }));
}
