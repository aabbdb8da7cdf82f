// A setup file of vitest: tests of `agent-rewind/vitest` then need no wrapper.

import { instrument } from "../instrument/index.js";

instrument();
