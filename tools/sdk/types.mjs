// Holds the request bodies that Cairn writes against the vendors' own types, and against what
// Google's library writes itself, whose types are not those of its wire.
// Usage: types.mjs BODIES CAIRN_MODEL SCRIPT
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, writeFileSync, rmSync, mkdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { GoogleGenAI } from '@google/genai';

const [, , bodies, program, script] = process.argv;
const body = (name) => JSON.parse(readFileSync(join(bodies, `${name}.json`), 'utf8'));

/** Each body as a typed constant, and once more with a field that no vendor knows. */
function file(name, from, type, value, imports = '') {
  const text = (v) => JSON.stringify(v, null, 2)
    .replace(/"thinkingLevel": "(\w+)"/, '"thinkingLevel": ThinkingLevel.$1');
  writeFileSync(`types/${name}.ts`, `import type { ${type} } from '${from}';
${imports}
export const body: ${type} = ${text(value)};
export const wrong: ${type} = {
  ...body,
  // @ts-expect-error
  no_such_field: 1,
};
`);
}

rmSync('types', { recursive: true, force: true });
mkdirSync('types');
const { contents, generationConfig, ...rest } = body('gemini');
const config = { ...generationConfig, ...rest };
file('chat', 'openai/resources/chat/completions', 'ChatCompletionCreateParamsStreaming', body('chat'));
file('responses', 'openai/resources/responses/responses', 'ResponseCreateParamsStreaming', body('responses'));
file('anthropic', '@anthropic-ai/sdk/resources/messages', 'MessageCreateParamsStreaming', body('anthropic'));
file('gemini', '@google/genai', 'GenerateContentParameters', { model: 'm-1', contents, config },
  "import { ThinkingLevel } from '@google/genai';");
writeFileSync('tsconfig.json', JSON.stringify({
  compilerOptions: {
    strict: true, noEmit: true, skipLibCheck: true, module: 'nodenext', target: 'es2022',
    exactOptionalPropertyTypes: true,
  },
  include: ['types'],
}));
const checked = spawnSync(process.execPath, ['node_modules/typescript/bin/tsc', '-p', '.'], {
  encoding: 'utf8',
});
assert.equal(checked.status, 0, checked.stdout + checked.stderr);
console.log('types: four bodies are what the libraries take');

const folder = mkdtempSync(join(tmpdir(), 'cairn-sdk-'));
const log = join(folder, 'requests');
const server = spawn(program, [script, '--log', log], { stdio: ['ignore', 'pipe', 'inherit'] });
try {
  const [line] = await once(server.stdout.setEncoding('utf8'), 'data');
  const baseUrl = line.trim().replace(/\/v1$/, '');
  const client = new GoogleGenAI({ apiKey: 'none', httpOptions: { baseUrl } });
  // The script has nothing to say to this; what was sent is in the log all the same.
  await client.models.generateContentStream({ model: 'm-1', contents, config }).catch(() => {});
  const sent = JSON.parse(readFileSync(log, 'utf8'));
  delete sent.systemInstruction.role;
  assert.deepEqual(sent, body('gemini'));
  console.log("google: its library writes the same body");
} finally {
  server.kill();
  rmSync(folder, { recursive: true });
}
