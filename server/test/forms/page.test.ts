import assert from 'node:assert/strict'
import { test } from 'node:test'
import { customFieldTypes } from '../../src/leads/lead/custom-fields.ts'
import { encode, formWorld, nameField, tokenIn } from '../support/form-world.ts'

const w = await formWorld()

test('all input of the team or the public is escaped', async () => {
  const evil = `"><script>alert(1)</script><img src=x onerror='alert(2)'>\``
  const form = await w.newForm({
    title: evil,
    description: evil,
    submitLabel: evil.slice(0, 60),
    thankYou: evil,
    fields: [
      { ...nameField, label: evil, placeholder: evil, help: evil },
      { key: 'choice', label: evil, type: 'select', required: false, options: [evil, 'x'] },
      { key: 'choices', label: evil, type: 'multiselect', required: false, options: [evil, 'x'] },
      { key: 'box', label: evil, type: 'boolean', required: false, help: evil },
      { key: 'story', label: evil, type: 'textarea', required: false },
    ],
  })
  const query = encode({ k_x: evil, utm_source: evil })
  const page = await w.app.inject({ url: `/f/${form.slug}?${query}` })
  const values = {
    firstName: '',
    choice: evil,
    choices: evil,
    story: `</textarea>${evil}`,
    k_x: evil,
    [`k_${evil}`]: evil,
  }
  const refused = await w.send(form.slug, values)
  assert.equal(refused.statusCode, 400)
  const thanks = await w.app.inject({ url: `/f/${form.slug}/thanks` })
  for (const { body } of [page, refused, thanks]) {
    assert.match(body, /&#60;script&#62;/)
    assert.doesNotMatch(body, /<script|<img|javascript:/i)
    assert.doesNotMatch(body.replace(/"[^"]*"/g, '""'), /<[^>]*\son\w+\s*=/i)
  }
})

test('a page has no script, no inline style and a policy that allows neither', async () => {
  const form = await w.newForm()
  const page = await w.app.inject({ url: `/f/${form.slug}` })
  assert.doesNotMatch(page.body, /<script|<style|\sstyle=/)
  assert.equal(
    page.headers['content-security-policy'],
    "default-src 'none'; style-src 'self'; img-src data:; base-uri 'none'; form-action 'self'; frame-ancestors 'self'",
  )
  assert.equal(page.headers['referrer-policy'], 'same-origin')
  assert.equal(page.headers['cache-control'], 'no-store')
  assert.match(String(page.headers['content-type']), /^text\/html/)
  const href = /<link rel="stylesheet" href="([^"]+)">/.exec(page.body)?.[1] ?? ''
  const style = await w.app.inject({ url: href })
  assert.equal(style.statusCode, 200)
  assert.match(String(style.headers['content-type']), /^text\/css/)
  assert.match(String(style.headers['cache-control']), /immutable/)
})

test('problems are shown next to their field, and browser validation is off', async () => {
  const form = await w.newForm()
  const { body } = await w.app.inject({ url: `/f/${form.slug}` })
  assert.match(body, /<form method="post" novalidate /)
  const refused = await w.send(form.slug, { firstName: '', _token: await w.token(form) })
  assert.equal(refused.statusCode, 400)
  assert.match(refused.body, /id="f-firstName" required aria-invalid="true" aria-describedby="f-firstName-problem"/)
  // Put right at once.
  const again = await w.send(form.slug, { firstName: 'Ana', _token: tokenIn(refused.body) })
  assert.equal(again.statusCode, 303)
})

test('every kind of field has a label and the right input', async () => {
  const form = await w.newForm({
    fields: [
      nameField,
      ...customFieldTypes.map((type) => ({
        key: `x_${type}`,
        label: `A ${type}`,
        type,
        required: false,
        ...(type.endsWith('select') ? { options: ['One', 'Two'] } : {}),
      })),
    ],
  })
  const { body } = await w.app.inject({ url: `/f/${form.slug}` })
  const inputs: [type: string, part: string][] = [
    ['text', 'type="text"'],
    ['email', 'type="email" inputmode="email"'],
    ['phone', 'type="tel" inputmode="tel"'],
    ['url', 'inputmode="url"'],
    ['number', 'inputmode="decimal"'],
    ['date', 'type="date"'],
    ['boolean', 'type="checkbox"'],
    ['multiselect', 'type="checkbox"'],
  ]
  for (const [type, part] of inputs) {
    const tag = [...body.matchAll(/<input[^>]*>/g)].map(([all]) => all).find((all) => all.includes(`name="x_${type}"`))
    assert.ok(tag?.includes(part), `${type}: ${tag}`)
  }
  assert.match(body, /<textarea rows="4" name="x_textarea"/)
  assert.match(body, /<select name="x_select"/)
  assert.match(body, /<legend>A multiselect/)
  assert.match(body, /name="firstName" id="f-firstName" required type="text" autocomplete="given-name"/)
  for (const type of customFieldTypes.filter((one) => one !== 'multiselect' && one !== 'boolean')) {
    assert.ok(body.includes(`<label for="f-x_${type}">`), type)
  }
})
