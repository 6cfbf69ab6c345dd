import { Menu } from '@mantine/core'
import { type ReactNode, useEffect, useRef } from 'react'
import { DropMenu } from '../../ui/overlay/DropMenu.tsx'
import type { Drop } from '../../ui/overlay/drop.tsx'

/** A menu of the thread's header, which a key opens as well. */
export function ActionItems({ drop, label, children }: { drop: Drop; label: string; children: ReactNode }) {
  return (
    <DropMenu drop={drop} position="bottom-end" width={240} withInitialFocusPlaceholder={false}>
      <FocusFirst />
      <Menu.Label>{label}</Menu.Label>
      {children}
    </DropMenu>
  )
}

/** A menu that a key opened is worked by keys. */
function FocusFirst() {
  const here = useRef<HTMLSpanElement>(null)
  useEffect(() => {
    const frame = requestAnimationFrame(() => {
      here.current?.closest('[role="menu"]')?.querySelector<HTMLElement>('[data-menu-item]')?.focus()
    })
    return () => cancelAnimationFrame(frame)
  }, [])
  return <span ref={here} hidden />
}
