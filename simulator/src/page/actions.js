import { make } from './elements.js'

const $ = (id) => document.getElementById(id)
const emoji = ['👍', '❤️', '😂', '😮', '😢', '🙏']

/** Creates the menu of a message's actions; calls `act` with the action, the message, and the emoji of a reaction. */
export function createActionMenu({ isMine, act }) {
  const menu = $('acts-menu')
  const add = (place, label, work, more = {}) => {
    const button = make('button', { type: 'button', text: label, ...more })
    button.addEventListener('click', () => {
      menu.hidePopover()
      work()
    })
    place.append(button)
  }
  return (message, opener) => {
    const given = message.reactions.customer
    const row = make('div', { className: 'emoji' })
    for (const one of emoji) {
      const isGiven = one === given
      const label = isGiven ? `Remove ${one}` : `React with ${one}`
      const more = { 'aria-label': label, 'aria-pressed': String(isGiven) }
      add(row, one, () => act(isGiven ? 'lift' : 'react', message, one), more)
    }
    menu.replaceChildren(row)
    add(menu, 'Reply', () => act('quote', message))
    if (isMine(message)) {
      const isWords = message.kind === 'text' || ['image', 'video', 'document'].includes(message.file?.kind)
      if (isWords) add(menu, 'Edit', () => act('edit', message))
      add(menu, 'Delete', () => act('withdraw', message))
    }
    menu.showPopover()
    placeBy(menu, opener)
    menu.querySelector('button').focus()
  }
}

/** Places a menu next to its opener, within the window. */
export function placeBy(menu, opener) {
  const { left, top, bottom, right } = opener.getBoundingClientRect()
  const { width, height } = menu.getBoundingClientRect()
  const x = left + width > innerWidth - 8 ? right - width : left
  const y = bottom + height > innerHeight - 8 ? top - height : bottom
  menu.style.left = `${Math.max(8, Math.min(x, innerWidth - width - 8))}px`
  menu.style.top = `${Math.max(8, y)}px`
}
