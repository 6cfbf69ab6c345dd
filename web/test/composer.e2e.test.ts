import assert from 'node:assert/strict'
import { test } from 'node:test'
import { field, newWriter, noteField, thread, until } from './support/composing.ts'
import { openDemo, phone, picture, seriousIssues } from './support/demo.ts'

const demo = await openDemo()
const inboxPath = `/workspaces/${demo.workspaceId}/inbox/conversations`
const agent = { authorization: `Bearer ${demo.apiKey}` }
const newCustomer = (name: string, text: string, ownedBy?: 'agent') => newWriter(demo, name, text, ownedBy)

test('a reply goes out once however often it is clicked, and its ticks climb', async () => {
  const rosa = await newCustomer('Rosa Prado', 'Do you open today?')
  const { page, problems } = await demo.open(rosa.place)
  await field(page).waitFor()
  await page.keyboard.press('r')
  await page.keyboard.type('Until six.')
  await page.getByRole('button', { name: 'Send', exact: true }).dblclick()
  await thread(page).getByText('Until six.').waitFor()
  await thread(page).getByLabel('Read').or(thread(page).getByLabel('Delivered')).first().waitFor()
  assert.equal(await field(page).inputValue(), '')
  await field(page).press('a')
  await field(page).fill('And tomorrow')
  await field(page).press('Shift+Enter')
  await page.keyboard.type('from nine.')
  await field(page).press('Enter')
  await until(rosa.heard, (heard) => heard.length === 2)
  assert.deepEqual(await rosa.heard(), ['Until six.', 'And tomorrow\nfrom nine.'])
  assert.deepEqual(problems, [])
})

test('T takes over, the agent is refused from then on, and H hands back with a sentence', async () => {
  const nuno = await newCustomer('Nuno Reis', 'Is this a robot?', 'agent')
  const { page, problems } = await demo.open(nuno.place)
  await page.getByText(/ is answering$/).waitFor()
  assert.equal(await field(page).count(), 0)
  await picture(page, 'composer-agent-light')
  await page.keyboard.press('t')
  await page.getByText('Your team is answering', { exact: true }).waitFor()
  await field(page).waitFor()
  await page.keyboard.type('The caret is here.')
  assert.equal(await field(page).inputValue(), 'The caret is here.')
  await page.keyboard.press('Escape')
  const send = () =>
    demo.call(
      'POST',
      `/api/v1/inbox/conversations/${nuno.id}/messages`,
      { kind: 'text', text: 'I am.' },
      { ...agent, 'idempotency-key': crypto.randomUUID() },
    )
  const mine = async () => (await demo.team('GET', `${inboxPath}/${nuno.id}`)).conversation.owner
  await until(mine, (owner) => owner === 'human')
  const refused = await send()
  assert.deepEqual([refused.status, refused.body.data.code], [409, 'OWNER_MISMATCH'])

  await page.keyboard.press('h')
  const ask = page.getByRole('dialog')
  await ask.getByLabel('What should it know?').fill('Wants the price list.')
  await picture(page, 'composer-hand-back-light')
  assert.deepEqual(await seriousIssues(page), [])
  await ask.getByRole('button', { name: 'Hand back' }).click()
  await page.getByText(/ is answering$/).waitFor()
  await thread(page).getByText('Wants the price list.').waitFor()
  assert.equal((await send()).status, 202)
  assert.deepEqual(problems, [])
})

test('a draft survives going elsewhere and a reload, and a note names a colleague', async () => {
  const lea = await newCustomer('Lea Alves', 'Hello')
  const { page, problems } = await demo.open(lea.place)
  await field(page).fill('Half a tho')
  await page.keyboard.press('Escape')
  await page.keyboard.press('n')
  await noteField(page).waitFor()
  await page.keyboard.type('@')
  await page.getByRole('listbox', { name: 'Colleagues' }).waitFor()
  await picture(page, 'composer-mention-light')
  await page.keyboard.press('Enter')
  await page.keyboard.type('please look')
  await page.reload()
  await noteField(page).waitFor()
  const typed = await noteField(page).inputValue()
  assert.match(typed, /^@.+ please look$/)
  await noteField(page).press('Enter')
  const added = async () => (await demo.team('GET', `${inboxPath}/${lea.id}/notes`)).notes
  const notes = await until(added, (all) => all.length > 0)
  await thread(page).getByRole('log').getByText('please look').waitFor()
  assert.deepEqual([notes.length, notes[0].mentions.length], [1, 1])
  await page.getByRole('button', { name: 'Reply', exact: true }).click()
  assert.equal(await field(page).inputValue(), 'Half a tho')
  assert.deepEqual(await lea.heard(), [])
  assert.deepEqual(problems, [])
})

test('a canned reply is found behind a slash and filled with who the customer is', async () => {
  await demo.team('POST', `/workspaces/${demo.workspaceId}/canned-replies`, {
    shortcut: 'hours',
    text: 'Hi {{contact.first_name}}, we are open from 9 to 18.',
  })
  const ivo = await newCustomer('Ivo Maia', 'When?')
  const { page, problems } = await demo.open(ivo.place)
  await field(page).fill('/ho')
  await page.getByRole('option', { name: /hours/ }).waitFor()
  await picture(page, 'composer-canned-light')
  assert.deepEqual(await seriousIssues(page), [])
  await page.keyboard.press('Enter')
  assert.equal(await field(page).inputValue(), 'Hi Ivo, we are open from 9 to 18.')
  await field(page).press('Enter')
  await until(ivo.heard, (heard) => heard.length === 1)
  assert.deepEqual(problems, [])
})

test('what somebody wrote in the last moment stops a reply until it is read', async () => {
  const eva = await newCustomer('Eva Pinto', 'I take two.')
  const { page, context, problems } = await demo.open(eva.place)
  await thread(page).getByText('I take two.').waitFor()
  await field(page).fill('Two it is.')
  // The stream is held, so that the page does not hear of the new message before the reply goes.
  await context.route('**/timeline*', (route) => route.abort())
  await eva.write('No, three!')
  await until(
    async () => (await demo.team('GET', `${inboxPath}/${eva.id}`)).conversation.lastMessage.text,
    (text) => text === 'No, three!',
  )
  await field(page).press('Enter')
  const line = page.getByRole('alert').filter({ hasText: 'Somebody has written in the meantime' })
  await line.getByText('No, three!').waitFor()
  await picture(page, 'composer-moved-light')
  assert.equal(await field(page).inputValue(), 'Two it is.')
  assert.deepEqual(await eva.heard(), [])
  await context.unroute('**/timeline*')
  await field(page).fill('Three it is.')
  await line.getByRole('button', { name: 'Send anyway' }).click()
  await until(eva.heard, (heard) => heard.length === 1)
  assert.deepEqual(await eva.heard(), ['Three it is.'])
  assert.deepEqual(
    problems.filter((one) => !one.includes('ERR_FAILED')),
    [],
  )
})

test('what is sent while the service is away waits, in order, also over a reload, and arrives once', async () => {
  const gil = await newCustomer('Gil Matos', 'Are you there?')
  const { page, context } = await demo.open(gil.place)
  await field(page).fill('First')
  await context.route('**/messages', (route) => route.abort())
  await field(page).press('Enter')
  await field(page).fill('Second')
  await field(page).press('Enter')
  await thread(page).getByText('Second').waitFor()
  await field(page).fill('Third, in the middle of')
  await context.unroute('**/messages')
  const address = page.url()
  await demo.restart()
  await page.goto(address)
  await field(page).waitFor()
  assert.equal(await field(page).inputValue(), 'Third, in the middle of')
  // The customers' phones begin anew with the service, so that it is asked itself.
  const sent = async (): Promise<string[]> => {
    const { messages } = await demo.team('GET', `${inboxPath}/${gil.id}/messages`)
    return messages
      .filter((one: { direction: string }) => one.direction === 'outbound')
      .map((one: { text: string }) => one.text)
  }
  await until(sent, (texts) => texts.length >= 2)
  await until(
    () => page.evaluate(() => Object.keys(localStorage).join()),
    (keys) => !keys.includes('parley.sending'),
  )
  assert.deepEqual(await sent(), ['First', 'Second'])
})

test('a refusal says why and keeps the text where it was typed', async () => {
  const ada = await newCustomer('Ada Luz', 'Hello?')
  const { page, context } = await demo.open(ada.place)
  await field(page).fill('Good morning')
  const connectionId = (await demo.team('GET', `${inboxPath}/${ada.id}`)).conversation.connectionId
  const connection = `/workspaces/${demo.workspaceId}/connections/${connectionId}`
  // The page does not hear of the pause, as happens in the moment of it.
  await context.route(/\/connections$/, (route) => route.abort())
  await demo.team('POST', `${connection}/pause`)
  await field(page).press('Enter')
  const line = page.getByRole('alert').filter({ hasText: 'The connection cannot send now' })
  await line.getByRole('link', { name: 'Open the connection' }).waitFor()
  await picture(page, 'composer-refused-light')
  assert.equal(await field(page).inputValue(), 'Good morning')
  assert.deepEqual(await seriousIssues(page), [])
  await demo.team('POST', `${connection}/resume`)
  await line.getByRole('button', { name: 'Send again' }).click()
  await until(ada.heard, (heard) => heard.length === 1)
  assert.equal(await line.count(), 0)
})

test('whoever is no lead becomes one, and what matters of it is changed in place', async () => {
  const bia = await newCustomer('Bia Rocha', 'Hi')
  const { page, problems } = await demo.open(bia.place)
  await page.getByRole('button', { name: 'Create a lead' }).click()
  const value = page.getByRole('textbox', { name: 'Estimated value' })
  await value.fill('x')
  await value.press('Enter')
  await page.getByText('Write an amount, such as 1500').waitFor()
  await value.fill('2.500')
  await page.getByText('Read as 2,500').waitFor()
  await value.fill('1.500,50')
  await page.getByText('Read as 1,500.50').waitFor()
  await value.press('Enter')
  await page
    .getByRole('textbox', { name: 'Status' })
    .or(page.getByRole('combobox', { name: 'Status' }))
    .first()
    .click()
  await page.getByRole('option', { name: 'Qualified', exact: true }).click()
  await page.getByText('New → Qualified').waitFor()
  const { lead } = await demo.team('GET', `/workspaces/${demo.workspaceId}/leads/${bia.number}`)
  assert.deepEqual([lead.estimatedValue, lead.status, lead.source], [1500.5, 'qualified', 'chat_app'])
  await demo.call('PATCH', `/api/v1/leads/${lead.id}`, { status: 'won' }, agent)
  await page.getByText('Qualified → Won').waitFor()
  await picture(page, 'customer-light')
  assert.deepEqual(await seriousIssues(page), [])
  assert.deepEqual(problems, [])
})

test('composer, owner and customer are usable without eyes or a mouse, in both schemes and on a phone', async () => {
  const [mia, bot] = [await newCustomer('Mia Torres', 'مرحبا'), await newCustomer('Rui Bot', 'Hi', 'agent')]
  for (const [name, options] of Object.entries({
    light: {},
    dark: { colorScheme: 'dark' as const },
    phone: { viewport: phone },
  })) {
    const { page } = await demo.open(mia.place, options)
    await field(page).fill('A line\nand another')
    await picture(page, `composer-${name}`)
    assert.deepEqual(await seriousIssues(page), [])
    await page.getByRole('button', { name: 'Note', exact: true }).click()
    await noteField(page).fill('Only for us')
    await picture(page, `composer-note-${name}`)
    assert.deepEqual(await seriousIssues(page), [])
    await page.getByRole('button', { name: 'Reply', exact: true }).click()
    await page.goto(`${demo.url}/w/${demo.workspaceId}/${bot.place}`)
    await page.getByText(/ is answering$/).waitFor()
    await picture(page, `composer-agent-${name}`)
    assert.deepEqual(await seriousIssues(page), [])
    if (name === 'phone') {
      await page.getByRole('button', { name: /customer/i }).click()
      await page.getByRole('heading', { name: 'Connection' }).waitFor()
      // Its tip comes late where much is going on.
      await page.mouse.move(0, 0)
      await page.getByRole('tooltip').waitFor({ state: 'detached' })
      await picture(page, 'customer-phone')
      assert.deepEqual(await seriousIssues(page), [])
    }
  }
})

// Last: it moves the clock of the service.
test('with the window closed a template is chosen, seen as it will be read, and reaches the customer', async () => {
  const [zoe, ugo] = [await newCustomer('Zoe Lima', 'Back tomorrow'), await newCustomer('Ugo Leal', 'Bye')]
  const { page, problems } = await demo.open(zoe.place)
  await field(page).fill('Are you back?')
  // In steps, as a session ends when nobody has used it for half a day.
  for (const hours of [9, 9, 7]) {
    await demo.call('POST', `${demo.simulatorUrl}/simulator/clock`, { advanceMs: hours * 3_600_000 })
    if (hours === 9) await page.reload()
    await field(page).waitFor()
  }
  await field(page).press('Enter')
  await page.getByText(/^The 24-hour window is closed\..* Your text is kept\.$/).waitFor()
  await page.getByLabel('Search templates').fill('order')
  await page.getByRole('button', { name: /^Order update/ }).click()
  await page.getByLabel('Value for {{1}}').fill('Zoe')
  await picture(page, 'composer-template-light')
  assert.deepEqual(await seriousIssues(page), [])
  await page.getByRole('button', { name: 'Send template' }).click()
  await page.getByText('Needs a value').waitFor()
  await page.getByLabel('Value for {{2}}').fill('A-17')
  await page.getByRole('button', { name: 'Send template' }).click()
  await thread(page).getByText('Hi Zoe, your order A-17 ships today.').last().waitFor()
  await until(zoe.heard, (heard) => heard.length === 1)
  await zoe.write('Here I am')
  await page.getByLabel('Search templates').waitFor({ state: 'detached' })
  assert.equal(await field(page).inputValue(), 'Are you back?')
  for (const [name, options] of Object.entries({
    dark: { colorScheme: 'dark' as const },
    phone: { viewport: phone },
  })) {
    const closed = await demo.open(ugo.place, options)
    await closed.page.getByLabel('Search templates').waitFor()
    await picture(closed.page, `composer-template-${name}`)
    assert.deepEqual(await seriousIssues(closed.page), [])
    await closed.page.close()
  }
  assert.deepEqual(problems, [])
})
