/** Options of a list that loads page by page: each page has the cursor of the next in `field`, null at the end. */
export const pagedBy = <Field extends string>(field: Field) => ({
  initialPageParam: null as string | null,
  getNextPageParam: (page: { [K in Field]: string | null }) => page[field],
})
