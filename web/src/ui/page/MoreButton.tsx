import { Button, type ButtonProps } from '@mantine/core'
import type { UseInfiniteQueryResult } from '@tanstack/react-query'

interface MoreButtonProps extends ButtonProps {
  query: Pick<UseInfiniteQueryResult, 'hasNextPage' | 'isFetchingNextPage' | 'fetchNextPage'>
  children: string
}

/** Loads the next page of a list, if there is one. */
export function MoreButton({ query, ...button }: MoreButtonProps) {
  const { hasNextPage, isFetchingNextPage, fetchNextPage } = query
  if (!hasNextPage) return null
  return <Button variant="default" {...button} loading={isFetchingNextPage} onClick={() => void fetchNextPage()} />
}
