import { type RefObject, useLayoutEffect, useRef, useState } from 'react'

/** How many of a list's items stand in its first line; measured anew as it grows, shrinks or says something else. */
export function useFit(
  words: string,
  openId: string | undefined,
): { list: RefObject<HTMLUListElement | null>; fits: number } {
  const list = useRef<HTMLUListElement>(null)
  const [fits, setFits] = useState(Number.POSITIVE_INFINITY)
  // biome-ignore lint/correctness/useExhaustiveDependencies: other words have another width, and so has the one that is open
  useLayoutEffect(() => {
    const element = list.current
    if (element === null) return
    const measure = () => {
      const items = [...element.children] as HTMLElement[]
      setFits(items.filter(({ offsetTop }) => offsetTop === items[0]?.offsetTop).length)
    }
    measure()
    const observer = new ResizeObserver(measure)
    observer.observe(element)
    return () => observer.disconnect()
  }, [words, openId])
  return { list, fits }
}
