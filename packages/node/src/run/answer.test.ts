import { expect, it } from 'vitest';
import { jsonOf } from './answer.ts';

it.each([
  ['{"a":[1]}', { value: { a: [1] } }],
  [' null\n', { value: null }],
  ['```json\n{"a":1}\n```\n', { value: { a: 1 } }],
  ['```\n"text"\n```', { value: 'text' }],
  ['Here it is: {"a":1}', null],
  ['```json\n{"a":1}\n```\nand ```json\n2\n```', null],
  ['', null],
])('the JSON of %j is %j', (text, json) => {
  expect(jsonOf(text)).toEqual(json);
});
