import { Controller, Get, Query } from '@nestjs/common';
import { Request, Response } from 'express';
import { exec } from 'child_process';

class Jobs {
  run(line: string) {
    exec(line); // want command
  }
}

@Controller('jobs')
export class JobsController {
  constructor(private readonly jobs: Jobs) {}

  @Get()
  run(@Query('line') line: string) {
    return this.jobs.run(line);
  }
}

export const cast = (req: Request, res: Response) => {
  exec((req as any).query.line); // want command
};
