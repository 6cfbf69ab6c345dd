import assert from 'node:assert/strict'
import { test } from 'node:test'
import { answerUrl, isOwnResource, isRegistered, redirectProblem } from '../../../src/auth/oauth/redirects.ts'

const valid = [
  'https://app.example.com/callback',
  'https://app.example.com:8443/callback?from=parley',
  'http://127.0.0.1/callback',
  'http://localhost:33418/',
  'http://[::1]:5000/callback',
  'cursor://anysphere.cursor-retrieval/oauth/user/callback',
  'com.example.app:/callback',
]
const invalid = [
  'http://app.example.com/callback',
  'http://localhost.evil.example/callback',
  'http://localhost@evil.example/callback',
  'http://127.0.0.1:80@evil.example/',
  'http://127.0.0.2/callback',
  'https://app.example.com/callback#fragment',
  'https://user:secret@app.example.com/callback',
  'https://app.example.com/call back',
  'https://app.example.com/\u0430',
  'javascript://app.example.com/%0aalert(1)',
  'javascript:alert(1)',
  'data:text/html,x',
  'blob:https://app.example.com/1',
  'file:///etc/passwd',
  'mailto:ana@example.com',
  'app:callback',
  '/callback',
  '',
  `https://app.example.com/${'a'.repeat(2000)}`,
]

test('https, this machine and schemes of apps can be registered, and nothing else', () => {
  for (const uri of valid) assert.equal(redirectProblem(uri), null, uri)
  for (const uri of invalid) assert.notEqual(redirectProblem(uri), null, uri)
})

const registered = ['https://app.example.com/callback', 'http://127.0.0.1:1234/callback', 'http://localhost/cb?x=1']
const matches: [uri: string, isMatch: boolean][] = [
  ['https://app.example.com/callback', true],
  ['https://app.example.com/callback/', false],
  ['https://app.example.com/callback?x=1', false],
  ['https://app.example.com/Callback', false],
  ['https://APP.example.com/callback', false],
  ['https://app.example.com:443/callback', false],
  ['https://app.example.com/x/../callback', false],
  ['https://app.example.com/callback/../../evil', false],
  ['https://app.example.com.evil.example/callback', false],
  ['https://app.example.com@evil.example/callback', false],
  ['http://app.example.com/callback', false],
  ['http://127.0.0.1:4321/callback', true],
  ['http://127.0.0.1/callback', true],
  ['http://127.0.0.1:4321/other', false],
  ['http://127.0.0.1:4321@evil.example/callback', false],
  ['http://127.0.0.1:999999/callback', false],
  ['http://localhost:4321/callback', false],
  ['http://localhost:4321/cb?x=1', true],
  ['https://localhost:4321/cb?x=1', false],
  ['http://localhost:4321/cb?x=1&y=2', false],
]

test('a redirect is compared exactly, but for the port of an app on this machine', () => {
  for (const [uri, isMatch] of matches) assert.equal(isRegistered(registered, uri), isMatch, uri)
})

test('the answer is added to the query of the redirect', () => {
  const answer = { code: 'a&b', state: null, iss: 'https://p.example' }
  assert.equal(answerUrl('https://a.example/', answer), 'https://a.example/?code=a%26b&iss=https%3A%2F%2Fp.example')
  assert.equal(answerUrl('https://a.example/?x=1', { code: 'c' }), 'https://a.example/?x=1&code=c')
})

test('a token is for this server only, by whatever name of it', () => {
  const own = 'https://parley.example.com'
  const resources: [asked: string | undefined, isOwn: boolean][] = [
    [undefined, true],
    [`${own}/mcp`, true],
    [`${own}/mcp/`, true],
    [own, true],
    ['HTTPS://PARLEY.example.com/mcp', true],
    [`${own}/mcp#x`, false],
    [`${own}/mcp?x=1`, false],
    [`${own}/api/v1`, false],
    ['http://parley.example.com/mcp', false],
    ['https://parley.example.com.evil.example/mcp', false],
    ['mcp', false],
  ]
  for (const [asked, isOwn] of resources) assert.equal(isOwnResource(own, asked), isOwn, String(asked))
})
