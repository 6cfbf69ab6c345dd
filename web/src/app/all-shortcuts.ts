import { t } from '../text/index.ts'
import { activeShortcuts, type Shortcut } from '../ui/shortcuts.ts'

export interface ShortcutGroup {
  title: string
  keys: Pick<Shortcut, 'keys' | 'label'>[]
}

/** Returns all shortcuts: the active ones, then those of other pages and of fields. */
export function allShortcuts(): { here: ShortcutGroup[]; elsewhere: ShortcutGroup[] } {
  const active = activeShortcuts()
  const here = [...new Set(active.map(({ group }) => group))].reverse().map((title) => ({
    title,
    keys: active.filter(({ group }) => group === title),
  }))
  const isHere = (title: string, keys: string) => active.some((one) => one.group === title && one.keys === keys)
  const elsewhere = knownShortcuts().map(({ title, keys }) => ({
    title,
    keys: keys.filter((one) => !isHere(title, one.keys)),
  }))
  return { here, elsewhere: elsewhere.filter(({ keys }) => keys.length > 0) }
}

const group = (title: string, ...lines: (readonly [keys: string, label: string])[]): ShortcutGroup => ({
  title,
  keys: lines.map(([keys, label]) => ({ keys, label })),
})

function knownShortcuts(): ShortcutGroup[] {
  const { inbox, compose, attach, leads, leadPage, forms, connections, keys, views, webhooks, common } = t
  const { actions } = inbox
  return [
    group(
      inbox.title,
      ['j', actions.next],
      ['k', actions.previous],
      ['x', inbox.bulk.toggle],
      ['/', inbox.openSearch],
      ['c', inbox.start],
      ['Escape', common.keys.back],
    ),
    group(
      actions.group,
      ['e', actions.resolve],
      ['z', actions.snooze],
      ['l', actions.label],
      ['a', actions.assign],
      ['u', actions.unread],
    ),
    group(
      compose.title,
      ['r', compose.writeReply],
      ['n', compose.writeNote],
      ['p', attach.choose],
      ['t', compose.owner.takeOver],
      ['h', compose.owner.handBack],
    ),
    composeShortcuts(),
    group(
      leads.keys.group,
      ['c', leads.keys.create],
      ['/', leads.keys.search],
      ['f', leads.keys.filter],
      ['b', leads.keys.board],
      ['.', views.next],
      [',', views.previous],
      ['m', leadPage.message],
      ['j', leads.keys.next],
      ['k', leads.keys.previous],
      ['x', leads.keys.select],
      ['mod+a', leads.keys.selectAll],
      ['Enter', leads.keys.edit],
      ['F2', leads.keys.edit],
      [' ', leads.keys.open],
      ['#', leads.keys.delete],
      ['Escape', leads.keys.close],
    ),
    group(forms.title, ['c', forms.create], ['mod+s', common.save]),
    group(connections.title, ['c', connections.add]),
    group(keys.title, ['c', keys.create]),
    group(webhooks.title, ['c', webhooks.create]),
    group(webhooks.endpoint, ['t', webhooks.test], ['e', webhooks.edit]),
    group(webhooks.deliveries, ['j', webhooks.next], ['k', webhooks.previous]),
  ]
}

/** Shortcuts of the message field, which are not shortcuts of a page. */
function composeShortcuts(): ShortcutGroup {
  const { title, send, line, replies, mention, leave } = t.common.keys.compose
  return group(title, ['Enter', send], ['Shift+Enter', line], ['/', replies], ['@', mention], ['Escape', leave])
}
