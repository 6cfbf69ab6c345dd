import assert from 'node:assert/strict'
import { test } from 'node:test'
import { languages } from '../../src/base/text/languages.ts'
import { digestMail, invitationMail, linkMail, notificationsMail, testMail } from '../../src/mail/mail-texts.ts'

const stop = {
  preferencesUrl: 'https://parley.example.com/w/1/profile#notifications',
  unsubscribeUrl: 'https://parley.example.com/unsubscribe?token=x',
}
const urls = { unread: 'https://a/1', waiting: 'https://a/2', mine: 'https://a/3', unassigned: 'https://a/4' }

for (const language of languages) {
  test(`every mail has a subject, a text and its links in both parts: ${language}`, () => {
    const link = 'https://parley.example.com/x?a=1&b=2'
    const counts = { unread: 1, waiting: 2, mine: 3, mineUnread: 1, unassigned: 500 }
    const items = [{ text: 'Ana', url: link }]
    const mails = [
      invitationMail(language, { inviter: 'Ana', workspace: 'Acme', url: link }),
      invitationMail(language, { inviter: null, workspace: 'Acme', url: link }),
      linkMail(language, 'sign-in', link),
      linkMail(language, 'reset', link),
      notificationsMail(language, { workspace: 'Acme', items, count: 3, stop }),
    ]
    for (const { subject, text, html } of mails) {
      assert.ok(subject !== '' && text.includes(link))
      assert.ok(html.includes('href="https://parley.example.com/x?a=1&#38;b=2"'))
      assert.ok(html.includes(`<html lang="${language}">`))
    }
    assert.ok(testMail(language).text !== '')
    const digest = digestMail(language, { workspace: 'Acme', counts, urls, stop, maxCount: 500 })
    for (const url of Object.values(urls)) assert.ok(digest.text.includes(url) && digest.html.includes(url))
    assert.ok(digest.text.includes('500+'))
    for (const url of Object.values(stop)) assert.ok(digest.text.includes(url) && digest.html.includes(`"${url}"`), url)
    assert.equal(digest.unsubscribeUrl, stop.unsubscribeUrl)
  })
}

test('names are escaped, and cannot add a header', () => {
  const evil = '<b>Eve</b>\r\nBcc: all@example.com\u2028\u202e'
  const { subject, html } = invitationMail('en', { inviter: evil, workspace: evil, url: 'https://a/' })
  assert.ok(!/[\r\n\u2028\u202e]/.test(subject))
  assert.ok(!html.includes('<b>Eve'))
  assert.ok(html.includes('&#60;b&#62;Eve'))
})

test('a digest lists only what there is', () => {
  const counts = { unread: 0, waiting: 1, mine: 0, mineUnread: 0, unassigned: 0 }
  const { text } = digestMail('en', { workspace: 'Acme', counts, urls, stop, maxCount: 500 })
  assert.match(text, /- 1 customer waits for a reply\n {2}https:\/\/a\/2/)
  assert.ok(!text.includes(urls.unread))
})
