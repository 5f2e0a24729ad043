import { useState } from 'react';
import { keepComments, readComments, withComment, type Comment } from './comments.ts';

/** Comments of one review, kept in this browser. */
export const useComments = (owner: string) => {
  const key = `orrery.review.${owner}`;
  const [comments, setComments] = useState(() => readComments(localStorage, key));
  const put = (next: readonly Comment[]): void => {
    keepComments(localStorage, key, next);
    setComments(next);
  };
  return { comments, change: (comment: Comment) => put(withComment(comments, comment)), clear: () => put([]) };
};
