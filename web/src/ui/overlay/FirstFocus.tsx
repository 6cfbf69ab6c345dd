import { useLayoutEffect, useRef } from 'react'
import visuallyHidden from '../visually-hidden.module.css'

const fields =
  'input:not([type="hidden"], [readonly]), textarea:not([readonly]), select, [contenteditable="true"], [role="combobox"]'

/**
 * At the end of a dialog: focuses the element with `data-autofocus`, otherwise its first field, even if that renders
 * later. Without one, nothing that a key could press has the focus.
 */
export function FirstFocus() {
  const here = useRef<HTMLSpanElement>(null)
  useLayoutEffect(() => {
    const mark = here.current
    const dialog = mark?.closest<HTMLElement>('[role="dialog"]')
    if (mark === null || dialog === null || dialog === undefined) return
    const first = () => {
      const own = [...dialog.querySelectorAll<HTMLElement>('[data-autofocus]')].find((one) => one !== mark)
      const field = [...dialog.querySelectorAll<HTMLElement>(fields)].find((one) => !one.matches(':disabled'))
      // A switch acts at once: a key must not press it by accident.
      return own ?? (field?.role === 'switch' ? undefined : field)
    }
    // The library focuses the first element with this attribute.
    const field = first()
    field?.setAttribute('data-autofocus', 'true')
    if (field !== undefined) return
    const observer = new MutationObserver(() => {
      if (document.activeElement === mark) first()?.focus()
      if (document.activeElement !== mark && document.activeElement !== document.body) observer.disconnect()
    })
    observer.observe(dialog, { childList: true, subtree: true })
    return () => observer.disconnect()
  }, [])
  return <span ref={here} tabIndex={-1} className={visuallyHidden.hidden} data-autofocus />
}
