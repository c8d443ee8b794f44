// Each vendor's library has a streamed conversation of three turns with tools and thinking with a
// scripted model, and must get exactly what the script says. Usage: talk.mjs CAIRN_MODEL SCRIPT
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { GoogleGenAI } from '@google/genai';

const [, , program, script] = process.argv;
const server = spawn(program, [script], { stdio: ['ignore', 'pipe', 'inherit'] });
const [line] = await once(server.stdout.setEncoding('utf8'), 'data');
const v1 = line.trim();
const origin = v1.replace(/\/v1$/, '');
const key = { apiKey: 'none', maxRetries: 0 };

const schema = { type: 'object', properties: { path: { type: 'string' } } };
const numbers = { type: 'object', properties: { a: { type: 'number' }, b: { type: 'number' } } };
const tools = [
  { name: 'read', description: 'Reads a file.', parameters: schema },
  { name: 'add', description: 'Adds two numbers.', parameters: numbers },
];
const results = { call_1_1: 'alpha', call_1_2: 'beta', call_2_1: '3' };

/** What a turn must be, whatever the format calls it. */
const expected = [
  {
    thought: 'I should look first.', text: 'I look – twice.', seal: 'c2VhbA0001', stop: 'calls',
    calls: [['call_1_1', 'read', { path: 'a.txt' }], ['call_1_2', 'read', { path: 'é.txt' }]],
    usage: { input: 100, cached: 40, output: 20, thought: 5 },
  },
  {
    thought: 'Now the sum.', text: '', seal: 'c2VhbA0002', stop: 'calls',
    calls: [['call_2_1', 'add', { a: 1, b: 2 }]],
    usage: { input: 150, cached: 100, output: 8, thought: 3 },
  },
  {
    thought: '', text: 'The sum is 3.', seal: '', stop: 'stop', calls: [],
    usage: { input: 170, cached: 0, output: 6, thought: 0 },
  },
];

/** Holds a conversation: `turn` asks and tells what came, `answer` takes in the tools' results. */
async function converse(name, { turn, answer }) {
  for (const [n, want] of expected.entries()) {
    assert.deepEqual(await turn(), want, `${name}, turn ${n + 1}`);
    if (want.calls.length) answer(want.calls.map(([id, tool]) => [id, tool, results[id]]));
  }
  console.log(`${name}: three turns as scripted`);
}

async function chat() {
  const client = new OpenAI({ ...key, baseURL: v1 });
  const messages = [{ role: 'user', content: 'go' }];
  const functions = tools.map((tool) => ({ type: 'function', function: tool }));
  await converse('openai chat', {
    async turn() {
      let thought = '';
      const stream = client.chat.completions.stream({
        model: 'sdk', messages, tools: functions, stream_options: { include_usage: true },
      });
      stream.on('chunk', (c) => (thought += c.choices[0]?.delta?.reasoning_content ?? ''));
      const { choices: [choice], usage } = await stream.finalChatCompletion();
      messages.push(choice.message);
      const calls = choice.message.tool_calls ?? [];
      return {
        thought, text: choice.message.content ?? '',
        // This format seals nothing.
        seal: thought ? expected.find((e) => e.thought === thought).seal : '',
        stop: choice.finish_reason === 'tool_calls' ? 'calls' : choice.finish_reason,
        calls: calls.map((c) => [c.id, c.function.name, JSON.parse(c.function.arguments)]),
        usage: {
          input: usage.prompt_tokens, cached: usage.prompt_tokens_details.cached_tokens,
          output: usage.completion_tokens,
          thought: usage.completion_tokens_details.reasoning_tokens,
        },
      };
    },
    answer(given) {
      for (const [id, , content] of given) {
        messages.push({ role: 'tool', tool_call_id: id, content });
      }
    },
  });
  const whole = await client.chat.completions.create({
    model: 'sdk', messages: [{ role: 'user', content: 'go' }],
  });
  assert.equal(whole.choices[0].message.tool_calls[1].id, 'call_1_2');
  const refused = client.chat.completions.create({ model: 'sdk', messages: messages.slice(0, 2) });
  await assert.rejects(refused, (e) => e.status === 400 && /expected/.test(e.message));
}

async function responses() {
  const client = new OpenAI({ ...key, baseURL: v1 });
  const input = [{ role: 'user', content: 'go' }];
  const functions = tools.map((tool) => ({ type: 'function', strict: false, ...tool }));
  await converse('openai responses', {
    async turn() {
      const stream = client.responses.stream({
        model: 'sdk', input, tools: functions, store: false,
        include: ['reasoning.encrypted_content'],
      });
      let heard = '';
      stream.on('response.output_text.delta', (event) => (heard += event.delta));
      const response = await stream.finalResponse();
      input.push(...response.output);
      const thought = response.output.find((item) => item.type === 'reasoning');
      const calls = response.output.filter((item) => item.type === 'function_call');
      assert.equal(heard, response.output_text);
      assert.equal(response.status, 'completed');
      return {
        thought: thought?.summary[0].text ?? '', text: response.output_text,
        seal: thought?.encrypted_content ?? '', stop: calls.length ? 'calls' : 'stop',
        calls: calls.map((c) => [c.call_id, c.name, JSON.parse(c.arguments)]),
        usage: {
          input: response.usage.input_tokens,
          cached: response.usage.input_tokens_details.cached_tokens,
          output: response.usage.output_tokens,
          thought: response.usage.output_tokens_details.reasoning_tokens,
        },
      };
    },
    answer(given) {
      for (const [id, , output] of given) {
        input.push({ type: 'function_call_output', call_id: id, output });
      }
    },
  });
  const whole = await client.responses.create({ model: 'sdk', input: 'go' });
  assert.equal(whole.output_text, expected[0].text);
  const refused = client.responses.create({ model: 'sdk', input: input.slice(0, 5) });
  await assert.rejects(refused, (e) => e.status === 400 && /expected/.test(e.message));
}

async function anthropic() {
  const client = new Anthropic({ ...key, baseURL: origin });
  const ask = {
    model: 'sdk', max_tokens: 4096, thinking: { type: 'enabled', budget_tokens: 1024 },
    tools: tools.map(({ parameters, ...tool }) => ({ ...tool, input_schema: parameters })),
  };
  const messages = [{ role: 'user', content: 'go' }];
  await converse('anthropic', {
    async turn() {
      const message = await client.messages.stream({ ...ask, messages }).finalMessage();
      messages.push({ role: 'assistant', content: message.content });
      const of = (type) => message.content.filter((block) => block.type === type);
      const { usage } = message;
      return {
        thought: of('thinking')[0]?.thinking ?? '', seal: of('thinking')[0]?.signature ?? '',
        text: of('text').map((block) => block.text).join(''),
        stop: { tool_use: 'calls', end_turn: 'stop' }[message.stop_reason],
        calls: of('tool_use').map((block) => [block.id, block.name, block.input]),
        usage: {
          input: usage.input_tokens + usage.cache_read_input_tokens +
            usage.cache_creation_input_tokens,
          cached: usage.cache_read_input_tokens, output: usage.output_tokens,
          thought: usage.output_tokens_details.thinking_tokens,
        },
      };
    },
    answer(given) {
      const content = given.map(([id, , text]) => (
        { type: 'tool_result', tool_use_id: id, content: text }
      ));
      messages.push({ role: 'user', content });
    },
  });
  const whole = await client.messages.create({ ...ask, messages: messages.slice(0, 1) });
  assert.equal(whole.content[1].text, expected[0].text);
  const refused = client.messages.create({ ...ask, messages: messages.slice(0, 2) });
  await assert.rejects(refused, (e) => e.status === 400 && /expected/.test(e.message));
}

async function gemini() {
  const client = new GoogleGenAI({ apiKey: 'none', httpOptions: { baseUrl: origin } });
  const config = {
    thinkingConfig: { includeThoughts: true },
    tools: [{
      functionDeclarations: tools.map(({ parameters, ...tool }) => (
        { ...tool, parametersJsonSchema: parameters }
      )),
    }],
  };
  const contents = [{ role: 'user', parts: [{ text: 'go' }] }];
  await converse('google', {
    async turn() {
      const parts = [];
      let last;
      const stream = await client.models.generateContentStream({ model: 'sdk', contents, config });
      for await (const chunk of stream) {
        parts.push(...(chunk.candidates[0].content.parts ?? []));
        last = chunk;
      }
      contents.push({ role: 'model', parts: parts.filter((part) => !part.thought) });
      const text = (thought) => parts
        .filter((part) => !part.functionCall && Boolean(part.thought) === thought)
        .map((part) => part.text).join('');
      const calls = parts.filter((part) => part.functionCall).map((part) => part.functionCall);
      const usage = last.usageMetadata;
      assert.equal(last.candidates[0].finishReason, 'STOP');
      return {
        thought: text(true), text: text(false),
        seal: parts.find((part) => part.thoughtSignature)?.thoughtSignature ?? '',
        stop: calls.length ? 'calls' : 'stop',
        calls: calls.map((call) => [call.id, call.name, call.args]),
        usage: {
          input: usage.promptTokenCount, cached: usage.cachedContentTokenCount,
          output: usage.candidatesTokenCount + usage.thoughtsTokenCount,
          thought: usage.thoughtsTokenCount,
        },
      };
    },
    answer(given) {
      const parts = given.map(([id, name, output]) => (
        { functionResponse: { id, name, response: { output } } }
      ));
      contents.push({ role: 'user', parts });
    },
  });
  const whole = await client.models.generateContent({ model: 'sdk', contents: 'go', config });
  assert.equal(whole.functionCalls[1].id, 'call_1_2');
  const early = contents.slice(0, 2);
  const refused = client.models.generateContent({ model: 'sdk', contents: early, config });
  await assert.rejects(refused, (e) => e.status === 400 && /expected/.test(e.message));
}

try {
  await Promise.all([chat(), responses(), anthropic(), gemini()]);
} finally {
  server.kill();
}
