import { Button } from '@mantine/core'
import type { UseInfiniteQueryResult } from '@tanstack/react-query'

interface MoreButtonProps {
  query: Pick<UseInfiniteQueryResult, 'hasNextPage' | 'isFetchingNextPage' | 'fetchNextPage'>
  label: string
}

/** Loads the next page of a list; nothing at its end. */
export function MoreButton({ query: { hasNextPage, isFetchingNextPage, fetchNextPage }, label }: MoreButtonProps) {
  if (!hasNextPage) return null
  return (
    <Button variant="default" loading={isFetchingNextPage} onClick={() => void fetchNextPage()}>
      {label}
    </Button>
  )
}
