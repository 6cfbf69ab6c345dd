import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  columnIds,
  columnsText,
  defaultChoice,
  placeColumn,
  readChoice,
  readColumns,
  resizeColumn,
  toggleColumn,
  widthOf,
} from '../../src/leads/fields/column-choice.ts'
import { maxScrollPx, rowWindow, scrollToRow } from '../../src/leads/table/use-row-window.ts'
import { readFilters } from '../../src/leads/transfer/search.ts'
import { addressOfView, isChanged, moveIdBy, moveIdTo, nameOfCopy, openView } from '../../src/leads/views/view-rules.ts'
import { addressOf, conditionsOf, queryOf, readAddress, withConditions } from '../../src/shared/lead-view/address.ts'
import { type Condition, operatorsOf } from '../../src/shared/lead-view/conditions.ts'

test('an address keeps valid parameters and drops the rest', () => {
  const id = '01985e2a-7c3e-7f10-9a64-3f6a2b1c0d5e'
  for (const kept of [
    { view: 'board', q: 'duarte', lead: id },
    { status: 'new,own_status' },
    { sort: '-updatedAt', updatedTo: '2026-01-31' },
    { sort: '-field:cidade' },
    { sort: 'name' },
  ])
    assert.deepEqual(readAddress({ ...kept }), kept)
  for (const nonsense of [
    { view: 'moon', status: 'NEW', priority: 'none', lead: 'x' },
    { createdFrom: 'today', createdTo: '2026-13-01', cols: 'a b' },
    { source: undefined, q: '' },
    ...['moon.is.full', 'email.is', 'notes.contains.a', 'labels.is.gold'].map((where) => ({ where })),
    ...['actualValue.from.ten', 'createdAt.from.2026-13-01'].map((where) => ({ where })),
    ...['notes', '-labels', '-moon'].map((sort) => ({ sort })),
  ])
    assert.deepEqual(readAddress({ ...nonsense }), {}, JSON.stringify(nonsense))
  assert.deepEqual(readAddress({ q: 5581 }), { q: '5581' })
})

test('the filters of a query convert back to its address', () => {
  const assignee = '01985e2a-7c3e-7f10-9a64-3f6a2b1c0d5e'
  const address = { q: 'ana', status: 'new,won', platform: 'meta', assignee, createdFrom: '2026-11-01' } as const
  assert.deepEqual(addressOf(queryOf(address)), address)
  const labelled = { labels: assignee, withoutLabels: assignee, where: 'labels.notEmpty', match: 'any' } as const
  assert.deepEqual(addressOf(readFilters({ ...queryOf(labelled) })), labelled, 'also on the page of the export')
  assert.deepEqual(addressOf({ createdTo: 'nonsense' }), {})
})

test('conditions survive a round trip through the address, simple ones in the older format', () => {
  const id = '01985e2a-7c3e-7f10-9a64-3f6a2b1c0d5e'
  const one = (column: string, operator: string, ...values: string[]) => ({ column, operator, values }) as Condition
  const table: [address: Parameters<typeof conditionsOf>[0], conditions: Condition[]][] = [
    [{ status: 'new,won' }, [one('status', 'is', 'new', 'won')]],
    [{ createdTo: '2026-01-31' }, [one('createdAt', 'to', '2026-01-31')]],
    [{ where: 'email.empty' }, [one('email', 'empty')]],
    [{ where: 'status.isNot.new' }, [one('status', 'isNot', 'new')]],
    [{ where: 'priority.is.low.high' }, [one('priority', 'is', 'low', 'high')]],
    [{ where: 'field:cidade.contains.S%2e%3bão%25' }, [one('field:cidade', 'contains', 'S.;ão%')]],
    [{ labels: `${id},${id}` }, [one('labels', 'is', id, id)]],
    [{ withoutLabels: id, where: 'labels.empty' }, [one('labels', 'isNot', id), one('labels', 'empty')]],
    [
      { status: 'new', where: 'status.is.won;createdAt.last.7' },
      [one('status', 'is', 'new'), one('status', 'is', 'won'), one('createdAt', 'last', '7')],
    ],
  ]
  for (const [address, conditions] of table) {
    assert.deepEqual(conditionsOf(readAddress({ ...address })), conditions)
    assert.deepEqual(withConditions({}, conditions), address)
  }
  const either = withConditions({ status: 'new', q: 'a' }, conditionsOf({ status: 'new' }), 'any')
  assert.deepEqual(either, { q: 'a', where: 'status.is.new', match: 'any' }, 'one of all means each of all')
  const labelled = { labels: id, match: 'any' } as const
  assert.deepEqual(withConditions(labelled, conditionsOf(labelled), null), { labels: id }, 'all of them apply again')
  assert.deepEqual(withConditions(labelled, conditionsOf(labelled)), { where: `labels.is.${id}`, match: 'any' })
})

test('days are whole days in the reader’s time zone, and parse back to days', () => {
  const [day, twoDays] = ['2026-11-01', { createdFrom: '2026-11-01', createdTo: '2026-11-02' }]
  const { createdFrom = '', createdTo = '' } = queryOf(twoDays)
  assert.equal(Date.parse(createdTo) - Date.parse(createdFrom), 2 * 86_400_000 - 1)
  const address = readAddress({ where: `createdAt.between.${day}.2026-11-02;name.contains.T1`, match: 'any' })
  const query = queryOf(address, 'es')
  const [, , from = '', to = ''] = (query.where ?? '').split(';')[0]?.split('.') ?? []
  const moment = (text: string) => Date.parse(text.replace('%2e', '.'))
  assert.equal(moment(to) - moment(from), 2 * 86_400_000 - 1)
  assert.deepEqual(addressOf(query), address)
  assert.deepEqual([query.sortLanguage, queryOf({ sort: 'name' }, 'es').sortLanguage], [undefined, 'es'])
})

test('rows are found at any height, and scrolling makes a row fully visible', () => {
  const at = { height: 720, rowPx: 36 }
  const few = rowWindow({ ...at, total: 100, scrollTop: 360 })
  assert.deepEqual(few, { first: 0, end: 42, scrollPx: 3600, topPx: 0 })
  for (const total of [0, 1, 100, 20_000, 1_000_000, 40_000_000]) {
    const scrollPx = Math.min(total * 36, maxScrollPx)
    const last = rowWindow({ ...at, total, scrollTop: Math.max(0, scrollPx - at.height) })
    assert.equal(last.end, total)
    assert.equal(rowWindow({ ...at, total, scrollTop: 0 }).first, 0)
    for (const row of [0, 7, Math.floor(total / 3), total - 1].filter((one) => one >= 0 && one < total)) {
      const scrollTop = scrollToRow(row, { ...at, total, scrollTop: 0 })
      const seen = rowWindow({ ...at, total, scrollTop })
      const top = seen.topPx + (row - seen.first) * 36 - scrollTop
      assert.ok(
        row >= seen.first && row < seen.end && top > -1 && top + 36 < at.height + 1,
        `${row} of ${total}: ${top}`,
      )
    }
  }
  assert.equal(scrollToRow(3, { ...at, total: 100, scrollTop: 40 }), 40)
})

test('columns are shown, hidden, moved and resized; invalid stored choices are dropped', () => {
  assert.deepEqual(toggleColumn(defaultChoice, 'email').shown.at(-1), 'email')
  assert.equal(toggleColumn(defaultChoice, 'phone').shown.includes('phone'), false)
  assert.deepEqual(placeColumn(defaultChoice, 'phone', 'status').shown.slice(0, 3), ['name', 'phone', 'status'])
  assert.equal(placeColumn(defaultChoice, 'phone', 'name'), defaultChoice)
  assert.deepEqual(
    [10, 200, 9999].map((px) => widthOf(resizeColumn(defaultChoice, 'phone', px), 'phone')),
    [72, 200, 640],
  )
  const kept = placeColumn(resizeColumn(defaultChoice, 'phone', 200), 'createdAt', 'status')
  assert.deepEqual(readChoice(JSON.stringify(kept)), kept)
  for (const text of [null, '', '{', '{}', '[]', '{"shown":7}']) assert.equal(readChoice(text), defaultChoice)
  assert.deepEqual(readChoice('{"shown":["phone","moon","phone"],"widths":{"phone":1,"moon":90}}'), {
    shown: ['name', 'phone'],
    widths: {},
  })
  assert.equal(new Set(columnIds).size, columnIds.length)
})

test('an address contains columns in order with widths, and invalid ones are dropped', () => {
  const wide = resizeColumn(placeColumn(defaultChoice, 'createdAt', 'status'), 'phone', 200)
  assert.deepEqual(readColumns(columnsText(wide)), wide)
  assert.equal(columnsText({ shown: ['name', 'phone'], widths: { phone: 200 } }), 'name,phone~200')
  assert.deepEqual(readAddress({ cols: columnsText(wide) }), { cols: columnsText(wide) })
  for (const text of ['moon,phone~9,status~x', 'phone,status,phone', 'status~~,phone']) {
    assert.deepEqual(readColumns(text).widths, {})
    assert.equal(readColumns(text).shown[0], 'name')
  }
  assert.deepEqual(readAddress({ cols: 'a b' }), {})
})

test('the open view is the one the address names or equals, and is changed if anything differs', () => {
  const view = (id: string, query: string) => ({ id, query }) as Parameters<typeof openView>[0][number]
  const [one, two] = [
    view('01985e2a-7c3e-7f10-9a64-3f6a2b1c0d01', 'sort=createdAt&status=new'),
    view('x', 'view=board'),
  ]
  const views = [one, two]
  const opened = addressOfView(one)
  assert.deepEqual(opened, { status: 'new', sort: 'createdAt', saved: one.id })
  for (const [address, found, changed] of [
    [{}, undefined, false],
    [{ lead: 'x' }, undefined, false],
    [{ q: 'ana' }, undefined, true],
    [opened, one, false],
    [{ ...opened, lead: 'x' }, one, false],
    [{ status: 'new', sort: 'createdAt' }, one, false],
    [{ ...opened, status: 'won' }, one, true],
    [{ ...opened, cols: 'name' }, one, true],
    [{ saved: one.id }, one, true],
    [{ saved: 'gone' }, undefined, false],
    [{ view: 'board' }, two, false],
  ] as const) {
    assert.equal(openView(views, address), found, JSON.stringify(address))
    assert.equal(isChanged(found, address), changed, JSON.stringify(address))
  }
})

test('views move to their new position, and a copy gets a unique name', () => {
  const ids = ['a', 'b', 'c']
  for (const [moved, order] of [
    [moveIdBy(ids, 'a', 1), 'bac'],
    [moveIdBy(ids, 'c', -2), 'cab'],
    [moveIdBy(ids, 'a', -1), 'abc'],
    [moveIdBy(ids, 'c', 1), 'abc'],
    [moveIdTo(ids, 'a', 'c'), 'bca'],
    [moveIdTo(ids, 'c', 'a'), 'cab'],
    [moveIdTo(ids, 'x', 'a'), 'abc'],
    [moveIdTo(ids, 'a', 'x'), 'abc'],
  ] as const)
    assert.equal(moved.join(''), order)
  assert.equal(nameOfCopy('Ads', ['Ads']), 'Ads 2')
  assert.equal(nameOfCopy('Ads', ['Ads', 'Ads 2']), 'Ads 3')
  assert.equal(nameOfCopy('Ads 2', ['Ads 2']), 'Ads 3')
  assert.ok(nameOfCopy('x'.repeat(80), []).length <= 80)
})

test('a custom field has the operators of its type, or all if it is undefined', () => {
  for (const [type, operators] of [
    ['select', 'is isNot empty notEmpty'],
    ['multiselect', 'contains empty notEmpty'],
    ['boolean', 'is empty notEmpty'],
    ['amount', 'between from to is isNot empty notEmpty'],
    ['date', 'last between from to is empty notEmpty'],
    ['text', 'contains is isNot empty notEmpty'],
    [null, 'contains is isNot between from to last empty notEmpty'],
  ] as const) {
    assert.equal(operatorsOf('field:size', type).join(' '), operators)
  }
  assert.equal(operatorsOf('labels').join(' '), 'is isNot empty notEmpty')
})
