//! How many jobs the routes of a router have, and which route takes another one.

use super::router::JobRouter;

/// The jobs that the routes of a router have so far.
#[derive(Clone, Debug)]
pub struct RouteLoads<'r> {
    router: &'r JobRouter,
    /// By route: the number of its jobs, and of those that run.
    loads: Vec<(i64, i64)>,
    /// Number of jobs that had a choice of routes, for taking turns.
    turns: usize,
}

impl<'r> RouteLoads<'r> {
    /// Begins without jobs.
    #[must_use]
    pub fn new(router: &'r JobRouter) -> Self {
        RouteLoads { router, loads: vec![(0, 0); router.routes.len()], turns: 0 }
    }

    /// Counts a job that a route has made.
    pub fn add(&mut self, route: usize, runs: bool) {
        let (jobs, running) = &mut self.loads[route];
        *jobs += 1;
        *running += i64::from(runs);
    }

    /// Chooses the route for a job that satisfies the requirements of the routes `matching`, and counts the job. With
    /// `is_limited`, routes that are full do not count. `None` if none is left.
    pub fn choose(&mut self, matching: &[usize], is_limited: bool) -> Option<usize> {
        let is_open = |route: &usize| !is_limited || self.full(*route).is_none();
        let open: Vec<usize> = matching.iter().copied().filter(is_open).collect();
        let turn = if self.router.is_round_robin { self.turns } else { 0 };
        let route = *open.get(turn % open.len().max(1))?;
        self.turns += 1;
        self.add(route, false);
        Some(route)
    }

    /// Returns why a route takes no further job; `None` if it takes one.
    #[must_use]
    pub fn full(&self, route: usize) -> Option<String> {
        let managed: i64 = self.loads.iter().map(|(jobs, _)| jobs).sum();
        if let Some(most) = self.router.max_jobs.filter(|most| managed >= *most) {
            return Some(format!("all routes together have {managed} jobs (JOB_ROUTER_MAX_JOBS is {most})"));
        }
        let ((jobs, running), route) = (self.loads[route], &self.router.routes[route]);
        let idle = jobs - running;
        if jobs >= route.max_jobs {
            return Some(format!("it is full: it has {jobs} of {} jobs (MaxJobs)", route.max_jobs));
        }
        let is_full = (0..=idle).contains(&route.max_idle_jobs);
        is_full.then(|| format!("it is full: it has {idle} of {} idle jobs (MaxIdleJobs)", route.max_idle_jobs))
    }
}
