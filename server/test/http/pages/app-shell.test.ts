import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type PageContext, renderShell } from '../../../src/http/pages/web-app.ts'

const workspaceId = '01985e2a-7c3e-7f10-9a64-3f6a2b1c0d5e'
const part = (name: string) => ({ scripts: [`assets/${name}.js`], styles: [`assets/${name}.css`] })
const inEach = (...names: string[]) => {
  const parts = names.map(part)
  const shared = { scripts: parts.flatMap((one) => one.scripts), styles: parts.flatMap((one) => one.styles) }
  const wordsOf = (language: string) => ({
    ...shared,
    scripts: [`assets/${names[0]}-${language}.js`, ...shared.scripts],
  })
  return { en: wordsOf('en'), pt: wordsOf('pt') }
}
const shell = {
  page: '<html data-section="%SECTION%" data-scheme="%SCHEME%"><meta content="%NONCE%"><!--scripts--><style nonce="%NONCE%"><!--styles-->',
  parts: {
    languages: { en: { scripts: [], styles: [] }, pt: part('pt') },
    sections: {
      entry: inEach('entry'),
      home: inEach('home'),
      inbox: inEach('inbox', 'shared'),
      leads: inEach('leads'),
      settings: inEach('settings'),
      thread: inEach('thread', 'shared'),
    },
  },
}
const look = (url: string, other: Partial<PageContext> = {}) =>
  renderShell(shell, { url, nonce: 'bm9uY2U=', language: 'en', scheme: '', timeZone: '', ...other })
const filesOf = (page: string) => [...page.matchAll(/assets\/([\w-]+)\.js/g)].map(([, name]) => name)
const dataOf = (page: string) => [...page.matchAll(/as="fetch" crossorigin href="([^"]+)"/g)].map(([, path]) => path)

const own = `/w/${workspaceId}`
for (const [url, section, files, language] of [
  ['/', 'home', ['home-en', 'home'], 'en'],
  ['/inbox', 'inbox', ['inbox-en', 'inbox', 'shared'], 'en'],
  [own, 'home', ['home-en', 'home'], 'en'],
  [`${own}/inbox`, 'inbox', ['inbox-en', 'inbox', 'shared'], 'en'],
  [`${own}/inbox`, 'inbox', ['pt', 'inbox-pt', 'inbox', 'shared'], 'pt'],
  [`${own}/inbox/one?view=mine`, 'inbox', ['inbox-en', 'inbox', 'shared', 'thread-en', 'thread'], 'en'],
  [`${own}/leads?view=board`, 'leads', ['pt', 'leads-pt', 'leads'], 'pt'],
  [`${own}/leads/import`, 'leads', [], 'en'],
  [`${own}/settings/labels`, 'settings', ['settings-en', 'settings'], 'en'],
  ['/sign-in?next=%2Finbox', 'entry', ['entry-en', 'entry'], 'en'],
  ['/invite/abc', 'entry', ['pt', 'entry-pt', 'entry'], 'pt'],
  [`${own}/nowhere`, 'nowhere', [], 'en'],
  [`${own}/%22onload=`, 'home', ['home-en', 'home'], 'en'],
] as const)
  test(`${url} preloads ${files.length === 0 ? 'no file' : files.join(', ')} for ${section} in ${language}`, () => {
    const page = look(url, { language })
    assert.match(page, new RegExp(`data-section="${section}"`))
    assert.deepEqual(filesOf(page), files)
    const styles = [...page.matchAll(/assets\/([\w-]+)\.css/g)].map(([, name]) => name)
    // Text catalogs have no styles.
    assert.deepEqual(
      styles,
      files.filter((name) => !/-(?:en|pt)$/.test(name)),
    )
  })

test('the inbox page preloads the first rows, except for a filtered list', () => {
  const api = `/api/team/v1/workspaces/${workspaceId}`
  const session = '/api/team/v1/session'
  const list = `${api}/inbox/conversations?sort=recent&amp;view=all&amp;limit=40&amp;status=open`
  assert.deepEqual(dataOf(look(`${own}/inbox`)), [session, list, `${api}/labels`])
  for (const url of [`${own}/inbox?view=mine`, '/inbox', '/w/other/inbox']) {
    assert.deepEqual(dataOf(look(url)), [session], url)
  }
})

test('the leads page preloads leads, and the home page statistics if the time zone is known', () => {
  const api = `/api/team/v1/workspaces/${workspaceId}`
  const session = '/api/team/v1/session'
  const leads = `${api}/leads?sortBy=createdAt&amp;sortOrder=desc&amp;limit=100&amp;page=1`
  assert.deepEqual(dataOf(look(`${own}/leads`)), [session, leads])
  const timeZone = 'America/Sao_Paulo'
  const stats = `${api}/stats?days=30&amp;tz=America%2FSao_Paulo`
  assert.deepEqual(dataOf(look(`${own}/home`, { timeZone })), [session, stats])
  for (const url of [`${own}/leads?q=ana`, `${own}/leads/import`, `${own}/home?days=7`, `${own}/settings`, '/home']) {
    assert.deepEqual(dataOf(look(url, { timeZone })), [session], url)
  }
  for (const timeZone of ['', '"><script>', 'x'.repeat(65), 'a b']) {
    assert.deepEqual(dataOf(look(`${own}/home`, { timeZone })), [session], timeZone)
  }
})

test('pages without sign-in preload no session data', () => {
  for (const url of ['/sign-in', '/sign-in/abc', '/invite/abc', '/choose-password'])
    assert.deepEqual(dataOf(look(url)), [], url)
})

test('the nonce is inserted in all styles, and a build without parts is sent unchanged', () => {
  assert.equal(look('/').match(/bm9uY2U=/g)?.length, 2)
  const plain = renderShell(
    { ...shell, parts: null },
    { url: '/', nonce: 'x', language: 'en', scheme: 'dark', timeZone: '' },
  )
  assert.deepEqual(filesOf(plain), [])
  assert.match(plain, /data-scheme="dark"/)
})
