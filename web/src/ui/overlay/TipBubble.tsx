import { Tooltip, type TooltipProps } from '@mantine/core'
import { useEffect, useState } from 'react'

export interface TipBubbleProps extends Pick<TooltipProps, 'label' | 'position' | 'multiline' | 'w'> {
  target: HTMLElement
  close(): void
}

export default function TipBubble({ target, close, ...tooltipProps }: TipBubbleProps) {
  const [isOpen, setOpen] = useState(false)
  useEffect(() => setOpen(true), [])
  useEffect(() => {
    const onKeyDown = ({ key }: KeyboardEvent) => key === 'Escape' && close()
    document.addEventListener('keydown', onKeyDown)
    return () => document.removeEventListener('keydown', onKeyDown)
  }, [close])
  // Within the landmark of its target. Dialogs are outside any: uses the page.
  const landmark = target.closest<HTMLElement>('nav, main') ?? document.querySelector('main')
  const portal = landmark === null ? {} : { portalProps: { target: landmark } }
  return <Tooltip target={target} opened={isOpen} floatingStrategy="fixed" {...portal} {...tooltipProps} />
}
