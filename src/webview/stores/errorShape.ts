/** An error as it is shown: what happened, and what to do about it. */
export interface ErrorShape {
  code: string;
  message: string;
  next: string;
}
