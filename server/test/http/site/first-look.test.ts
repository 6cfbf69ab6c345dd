import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Look, pageFor } from '../../../src/http/site/first-look.ts'

const workspaceId = '01985e2a-7c3e-7f10-9a64-3f6a2b1c0d5e'
const part = (name: string) => ({ scripts: [`assets/${name}.js`], styles: [`assets/${name}.css`] })
const shell = {
  page: '<html data-room="%ROOM%" data-scheme="%SCHEME%"><meta content="%NONCE%"><!--scripts--><style nonce="%NONCE%"><!--styles-->',
  parts: {
    rooms: {
      home: part('home'),
      inbox: part('inbox'),
      leads: part('leads'),
      settings: part('settings'),
      thread: part('thread'),
    },
    languages: { pt: part('pt') },
    list: { en: part('list-en'), pt: part('list-pt') },
    rest: { en: part('rest-en'), pt: part('rest-pt') },
  },
}
const look = (url: string, other: Partial<Look> = {}) =>
  pageFor(shell, { url, nonce: 'bm9uY2U=', language: 'en', scheme: '', ...other })
const filesOf = (page: string) => [...page.matchAll(/assets\/([\w-]+)\.js/g)].map(([, name]) => name)
const dataOf = (page: string) => [...page.matchAll(/as="fetch" crossorigin href="([^"]+)"/g)].map(([, path]) => path)

const own = `/w/${workspaceId}`
for (const [url, room, files, language] of [
  ['/', 'home', ['list-en', 'rest-en', 'home'], 'en'],
  ['/inbox', 'inbox', ['inbox'], 'en'],
  [own, 'home', ['list-en', 'rest-en', 'home'], 'en'],
  [`${own}/inbox`, 'inbox', ['inbox'], 'en'],
  [`${own}/inbox`, 'inbox', ['pt', 'inbox'], 'pt'],
  [`${own}/inbox/one?view=mine`, 'inbox', ['inbox', 'thread'], 'en'],
  [`${own}/leads?view=board`, 'leads', ['pt', 'list-pt', 'leads'], 'pt'],
  [`${own}/leads/import`, 'leads', [], 'en'],
  [`${own}/settings/labels`, 'settings', ['list-en', 'rest-en', 'settings'], 'en'],
  [`${own}/nowhere`, 'nowhere', [], 'en'],
  [`${own}/%22onload=`, 'home', ['list-en', 'rest-en', 'home'], 'en'],
] as const)
  test(`${url} has the shape of ${room}, and ${files.length === 0 ? 'no file' : files.join(', ')} on the way in ${language}`, () => {
    const page = look(url, { language })
    assert.match(page, new RegExp(`data-room="${room}"`))
    assert.deepEqual(filesOf(page), files)
    assert.equal(page.match(/<link rel="stylesheet"/g)?.length ?? 0, files.length)
  })

test('the first rows of the inbox are on the way with the page, but for a list that is filtered', () => {
  const api = `/api/team/v1/workspaces/${workspaceId}`
  const session = '/api/team/v1/session'
  const list = `${api}/inbox/conversations?sort=recent&amp;view=all&amp;limit=40&amp;status=open`
  assert.deepEqual(dataOf(look(`${own}/inbox`)), [session, list, `${api}/labels`])
  for (const url of [`${own}/inbox?view=mine`, `${own}/home`, '/inbox', '/w/other/inbox']) {
    assert.deepEqual(dataOf(look(url)), [session], url)
  }
})

test('the nonce stands wherever a style is, and what was built without parts is sent as it is', () => {
  assert.equal(look('/').match(/bm9uY2U=/g)?.length, 2)
  const plain = pageFor({ ...shell, parts: null }, { url: '/', nonce: 'x', language: 'en', scheme: 'dark' })
  assert.deepEqual(filesOf(plain), [])
  assert.match(plain, /data-scheme="dark"/)
})
